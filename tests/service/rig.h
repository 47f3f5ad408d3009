/* SPDX-License-Identifier: MIT */
/* rig.h -- functions that the tests of the service share: real processes, raw sockets, real SQL.
 *
 * Each function fails the running test when it cannot do its work, so call it on the main thread of
 * the test. The comments name the functions that may be called on other threads.
 */
#ifndef TESTS_SERVICE_RIG_H
#define TESTS_SERVICE_RIG_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/http/token.h"
#include "db/conn.h"
#include "tests/registered.h"

enum { RIG_ARGS_MAX = 25, RIG_ANSWER_MAX = 65536, RIG_PATH_MAX = 256 };

/* The limit for states that have to come and for ends that have to be reached, on the slowest
 * machine. No test measures with it. */
enum { RIG_PATIENCE_MS = 60000 };

/* A service process. */
struct rig_service {
    pid_t pid;
    int orders_port;
    int admin_port;
    char log[RIG_PATH_MAX]; /* its standard error */
    int out;                /* its standard output, until it is ready */
    char admin_token_path[RIG_PATH_MAX];
};

/* Start a service on free ports with these additional arguments (up to a NULL), and wait until it
 * is ready. */
struct rig_service rig_start(const char *const *args);
#define RIG_START(...) rig_start((const char *const[]){__VA_ARGS__, NULL})

/* The two halves of rig_start(), for a service that needs something between them to become
 * ready. */
struct rig_service rig_launch(const char *const *args);
void rig_await_ready(struct rig_service *s);

/* The lines of the service's log with `words`; has it any? */
int64_t rig_count_logged(const struct rig_service *s, const char *words);
bool rig_has_logged(const struct rig_service *s, const char *words);

/* "--record=DIR" with a directory for the services of this program, which is removed when the
 * program ends. */
const char *rig_record_flag(void);

/* Run a service until it ends by itself, and return its exit status. `log` gets its standard error
 * (size bytes at most). */
int rig_run(const char *const *args, char *log, size_t size);

/* Send SIGTERM and wait: the service must exit with 0, and its log is removed; else the log is
 * kept. */
void rig_stop(struct rig_service *s);
/* Send a signal; or wait at most `ms` for the end of the service. Returns the exit status, 128 +
 * the number of the signal that ended the service, or -1 if it did not end. The log is removed
 * after an exit with 0, and after SIGKILL, by which tests end a service. */
void rig_signal(const struct rig_service *s, int signal_number);
int rig_wait(struct rig_service *s, int64_t ms);

/* An answer, or the part of it that arrived. */
struct rig_answer {
    int status; /* 0: no answer came */
    char outcome[32];
    char request_id[80];
    char head[2048];
    char body[RIG_ANSWER_MAX];
};

/* Fail the test unless the answer has this status and outcome; unless its body, or its head,
 * contains the piece. */
void rig_expect(const struct rig_answer *answer, int status, const char *outcome);
void rig_expect_in_body(const struct rig_answer *answer, const char *piece);
void rig_expect_in_head(const struct rig_answer *answer, const char *piece);

/* Functions for sockets, which may be called on any thread; they return -1 or false after a
 * failure. */
int rig_connect(int port);
bool rig_send(int fd, const void *bytes, size_t len);
/* Read one answer within `ms`. */
bool rig_read(int fd, struct rig_answer *out, int64_t ms);
/* The same for the answer to a HEAD, which has no body; later bytes are left unread. */
bool rig_read_head(int fd, struct rig_answer *out, int64_t ms);
/* Has the other end closed, within `ms`? */
bool rig_is_closed(int fd, int64_t ms);

/* Send a request on a connection of its own; to the listener for operators with the admin token,
 * unless `extra` has another one. `extra` has additional header lines, each with its CR LF, or is
 * NULL; `body` may be NULL too. Any thread. */
bool rig_request(int port, const char *method, const char *path, const char *extra,
                 const char *body, struct rig_answer *out);

/* The header lines that a request to the listener for operators needs, with the token of the
 * service on this port; "" if no service has this port. */
void rig_admin_lines(int port, char *out, size_t size);

/* Send a request to the listener for operators, with the header lines that it needs. Any thread. */
bool rig_admin(const struct rig_service *s, const char *method, const char *path,
               struct rig_answer *out);

/* The service's number of the test's user `user_id`. Test programs that run at once share a lab,
 * and each program has users of its own, so that no other program holds the lock of a user. */
int64_t rig_user(int64_t user_id);

/* Order with a token of rig_user(user_id). */
bool rig_order(int port, int64_t voucher_id, int64_t user_id, struct rig_answer *out);
bool rig_order_named(int port, int64_t voucher_id, int64_t user_id,
                     const char *request_id, struct rig_answer *out);
/* Tokens by the lab's key, for an hour: of a buyer, as rig_order() uses it, and of an operator; and
 * a token of any claim. */
void rig_token(int64_t user_id, char out[TOKEN_LEN + 1]);
void rig_operator_token(char out[TOKEN_LEN + 1]);
void rig_token_of(const struct token_claim *claim, char out[TOKEN_LEN + 1]);

/* Send /faults/VERB?QUERY ("arm", "point=after-read&action=hold") to the service, which has to
 * answer with `status`. Returns the body of the answer, valid until the next call. */
const char *rig_fault(const struct rig_service *s, const char *verb, const char *query,
                      int status);
/* Wait until a thread of the service is held at the point. */
void rig_await_held(const struct rig_service *s, const char *point);

/* An order on a thread of its own; `answer` is complete when the thread has been joined. */
struct rig_held {
    pthread_t thread;
    int port;
    int64_t voucher, user;
    struct rig_answer answer;
};
void rig_order_beside(struct rig_held *held, const struct rig_service *s, int64_t voucher,
                      int64_t user);
/* Arm the point, begin the order, and wait until the order is held there; release the point, and
 * join the thread. */
void rig_hold(struct rig_held *held, const struct rig_service *s, const char *point,
              int64_t voucher, int64_t user);
void rig_let_go(struct rig_held *held, const struct rig_service *s, const char *point);

/* A connection for SQL as the owner of the database; the test program has one. */
struct db_conn *rig_db(void);
/* Make a voucher with that stock that is on sale now. */
int64_t rig_voucher(int64_t stock);
/* Make a voucher that is on sale from begin to end, in seconds from now. */
int64_t rig_voucher_at(int64_t stock, int64_t begin_s, int64_t end_s);
int64_t rig_stock(int64_t voucher_id);
int64_t rig_orders(int64_t voucher_id);
/* The number of lines of the voucher's record of writes with this outcome and guard; NULL: any. */
int64_t rig_writes(int64_t voucher_id, const char *outcome, const char *guard);
/* The number of orders beyond the first of each user. */
int64_t rig_duplicates(int64_t voucher_id);

/* Start a lab for this test, whose servers the test may break. While it is up, everything above
 * uses it. */
void rig_lab_up(void);
void rig_lab_down(void);
void rig_lab_restart(const char *server);
/* Kill a server of it with SIGKILL; rig_lab_restart() starts it again. */
void rig_lab_kill(const char *server);
pid_t rig_lab_pid(const char *server);
/* Send the signal to the server and to its children, of which some may end meanwhile.  A
 * stopped server starts no further child. */
void rig_lab_signal(pid_t server, int signal_number);

/* Run the tests that the program has registered (tests/registered.h), between these two functions,
 * each of which may be NULL; beside one service with these additional arguments, which *service
 * describes while they run; or in a lab of their own, as with rig_lab_up(). Each returns the number
 * of failed tests. A program without a main() runs its tests between the functions of GROUP(). */
int rig_run_tests(CMFixtureFunction set_up, CMFixtureFunction tear_down);
int rig_run_with_service(struct rig_service *service, const char *const *args);
int rig_run_with_lab(void);
#define RIG_RUN_WITH_SERVICE(service, ...)                                             \
    rig_run_with_service(service, (const char *const[]){__VA_ARGS__, NULL})

/* The value of a variable that tests/run sets; the test fails if it is not set. */
const char *rig_environment(const char *name) __attribute__((returns_nonnull));

/* Call is_true() every few milliseconds until it returns true; return false after `ms`. */
bool rig_until(bool (*is_true)(void *arg), void *arg, int64_t ms);

/* The value of the line of /metrics that begins with `line_start`; -1: there is none. */
double rig_metric(const struct rig_service *s, const char *line_start);

#endif /* TESTS_SERVICE_RIG_H */
