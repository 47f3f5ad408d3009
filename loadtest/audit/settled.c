/* SPDX-License-Identifier: MIT */
/* settled.c -- asks Redis for orders that wait, and PostgreSQL for services that work. */
#include "loadtest/audit/settled.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/text/duration.h"
#include "base/text/printable.h"
#include "db/audit.h"
#include "loadtest/kit/child.h"
#include "loadtest/kit/interrupt.h"
#include "loadtest/probe/redis_connection.h"

enum { POLL_MS = 100, SILENT_TRIES = 3 };

/* A connection to Redis, made again after a silence, which uses up a connection. */
struct queue {
    const struct lab *lab;
    const struct lab_server *server;
    const char *name;
    struct redis_side *side;
    int silent;     /* the questions without an answer, since the last answer        */
    int64_t length; /* the number of orders that wait; -1: Redis has not said        */
};

static void ask_queue(struct queue *q)
{
    enum redis_said said;

    if (!q->side)
        q->side = redis_side_open(q->lab, q->server, REDIS_SIDE_MS);
    said = redis_side_ask(q->side, "XLEN %s", q->name);
    q->length = said == REDIS_SAID ? redis_side_number(q->side) : -1;
    q->silent = said == REDIS_SILENT ? q->silent + 1 : 0;
    if (said == REDIS_SILENT) {
        redis_side_close(q->side);
        q->side = NULL;
    }
}

static void say_why_waiting(const struct queue *q, char why[SETTLED_WHY_MAX])
{
    char name[100];

    printable(q->name, name, sizeof name);
    if (q->length < 0)
        snprintf(why, SETTLED_WHY_MAX,
                 "Redis did not say whether orders wait in the stream %s, so a queued order may "
                 "still get its row%s",
                 name,
                 child_runs(&q->server->child)
                     ? ""
                     : ": its server has ended, and seckill lab up starts the server again");
    else
        snprintf(why, SETTLED_WHY_MAX,
                 "%" PRId64 " order%s in the stream %s: a seckilld with --order-path=stream "
                 "writes the rows; then audit again",
                 q->length, q->length == 1 ? " waits" : "s wait", name);
}

/* False: a signal that stops the wait has come. */
static bool rest(bool stops)
{
    if (stops)
        return interrupt_sleep_ms(POLL_MS);
    usleep(POLL_MS * 1000);
    return true;
}

bool settled_wait_drained(const struct lab *lab, const char *name, int64_t limit_ms, bool stops,
                          char why[SETTLED_WHY_MAX])
{
    struct queue q = {.lab = lab,
                      .server = lab_find_server((struct lab *)lab, "redis"),
                      .name = name};
    int64_t by_ns = monotonic_ns() + limit_ms * 1000000;

    if (!q.server)
        return true;
    ask_queue(&q);
    while (q.length != 0 && q.silent < SILENT_TRIES && monotonic_ns() < by_ns && rest(stops))
        ask_queue(&q);
    redis_side_close(q.side);
    if (q.length != 0)
        say_why_waiting(&q, why);
    return q.length == 0;
}

/* The pid in the name of a process of this machine, host:pid; 0: it is another name. */
static pid_t pid_of(const char *name)
{
    const char *colon = strrchr(name, ':');
    char host[40] = ""; /* seckilld keeps as many letters of it */
    char *end = NULL;
    long pid = colon ? strtol(colon + 1, &end, 10) : 0;

    (void)gethostname(host, sizeof host - 1);
    return colon && end != colon + 1 && *end == '\0' && pid > 0 &&
                   (size_t)(colon - name) == strlen(host) &&
                   strncmp(name, host, strlen(host)) == 0
               ? (pid_t)pid
               : 0;
}

/* An audit_db_service_fn.  Ends at the first process that is stopped. */
static bool look_for_stopped(const char *name, void *stopped)
{
    struct child process = {.pid = pid_of(name)};
    char state;

    if (process.pid == 0)
        return true;
    process.start = child_start_time(process.pid);
    state = child_state(&process);
    if (state == 'T' || state == 't')
        *(pid_t *)stopped = process.pid;
    return *(pid_t *)stopped == 0;
}

enum quiet { QUIET, BUSY, STOPPED, UNANSWERED };

/* Ask PostgreSQL and the system whether a service works or is stopped.  Unless the answer is QUIET,
 * `why` has the reason. */
static enum quiet ask_services(lab_db *db, char why[SETTLED_WHY_MAX])
{
    bool is_quiet = false;
    pid_t stopped = 0;

    if (!audit_db_quiet(db, &is_quiet) || !audit_db_services(db, look_for_stopped, &stopped)) {
        snprintf(why, SETTLED_WHY_MAX, "%.200s", lab_db_error(db));
        return UNANSWERED;
    }
    if (stopped) {
        snprintf(why, SETTLED_WHY_MAX,
                 "the process %d of the service is stopped, and its requests may still sell: "
                 "continue it (kill -CONT %d), and audit again",
                 (int)stopped, (int)stopped);
        return STOPPED;
    }
    if (is_quiet)
        return QUIET;
    snprintf(why, SETTLED_WHY_MAX,
             "the service works at the database: audit again when it is done");
    return BUSY;
}

bool settled_wait_quiet(lab_db *db, int64_t limit_ms, char why[SETTLED_WHY_MAX])
{
    int64_t by_ns = monotonic_ns() + limit_ms * 1000000;
    enum quiet answer = ask_services(db, why);

    while (answer == BUSY && monotonic_ns() < by_ns && interrupt_sleep_ms(POLL_MS))
        answer = ask_services(db, why);
    return answer == QUIET;
}
