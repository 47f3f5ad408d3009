/* SPDX-License-Identifier: MIT */
/* test_waiting_start.c -- a start whose stores do not answer yet, or refuse for good. */
#include <arpa/inet.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/text/duration.h"
#include "tests/service/rig.h"
#include "tests/service/shell.h"

static char said[16384];

static void expect_said(const char *words)
{
    if (strstr(said, words) == NULL)
        fail_msg("no \"%s\" in:\n%s", words, said);
}

/* Start a service with these settings: it must end with `status`, and its log must have all of
 * `words`. */
static void expect_end(const char *const *args, int status, const char *const *words)
{
    int got = rig_run(args, said, sizeof(said));

    if (got != status)
        fail_msg("exit %d instead of %d:\n%s", got, status, said);
    for (; *words != NULL; words++)
        expect_said(*words);
}
#define ARGS(...) ((const char *const[]){__VA_ARGS__, NULL})

static int line_count(const char *words)
{
    int n = 0;

    for (const char *at = said; (at = strstr(at, words)) != NULL; at++)
        n++;
    return n;
}

/* The lab's URL of PostgreSQL as a flag, with another user, password or database. */
static const char *database_flag(const char *user, const char *password,
                                 const char *database)
{
    static char flag[512];
    const char *url = rig_environment("SECKILL_DATABASE_URL");
    const char *at = strchr(url, '@');

    assert_non_null(at);
    (void)snprintf(flag, sizeof(flag), "--database-url=postgresql://%s:%s%.*s/%s", user,
                   password, (int)(strchr(at, '/') - at), at, database);
    return flag;
}

/* A bound port; with `listens` the kernel accepts clients, but no program answers. */
static int taken_port(int *fd, bool listens)
{
    struct sockaddr_in at = {.sin_family = AF_INET};
    socklen_t len = sizeof(at);

    at.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    *fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    assert_int_equal(bind(*fd, (struct sockaddr *)&at, sizeof(at)), 0);
    if (listens)
        assert_int_equal(listen(*fd, 64), 0);
    assert_int_equal(getsockname(*fd, (struct sockaddr *)&at, &len), 0);
    return ntohs(at.sin_port);
}

TEST(a_store_that_does_not_answer_is_waited_for_and_named)
{
    char redis[64], postgres[96];
    int fd;
    int port = taken_port(&fd, false);

    (void)snprintf(redis, sizeof(redis), "--redis-url=redis://127.0.0.1:%d", port);
    (void)snprintf(postgres, sizeof(postgres),
                   "--database-url=postgresql://nobody@127.0.0.1:%d/x", port);
    expect_end(ARGS("--start-timeout=2s", redis), 69,
               ARGS("Redis has not answered for 1 s; trying for 1 s more (--start-timeout)",
                    "Redis is not available for --lock=reentrant, after 2 s of trying",
                    "Connection refused"));
    expect_end(ARGS("--start-timeout=2s", "--lock=none", postgres), 69,
               ARGS("PostgreSQL has not answered for 1 s; trying for 1 s more",
                    "PostgreSQL is not available, after 2 s of trying",
                    "Connection refused"));
    (void)close(fd);
}

/* libpq begins a sentence with the server's address, and does not complete it. */
TEST(a_silent_server_has_a_reason_too)
{
    char postgres[96];
    int fd;
    int port = taken_port(&fd, true);

    (void)snprintf(postgres, sizeof(postgres),
                   "--database-url=postgresql://nobody@127.0.0.1:%d/x", port);
    expect_end(ARGS("--start-timeout=0", "--lock=none", postgres), 69,
               ARGS("the server did not answer within 2000 ms\n"));
    expect_end(ARGS("--start-timeout=0", "--lock=pg-row", "--statement-timeout=300ms",
                    postgres),
               69, ARGS("PostgreSQL is not available for --lock=pg-row",
                        "did not answer in time\n"));
    (void)close(fd);
}

/* None of these errors passes by itself, so the service does not try for 30 s. */
TEST(a_refusal_for_good_ends_the_start_at_once)
{
    char redis[256];

    expect_end(ARGS("--lock=none", database_flag("seckill_service", "wrong", "seckill")), 69,
               ARGS("PostgreSQL is not available: ",
                    "password authentication failed for user \"seckill_service\"\n"));
    assert_int_equal(line_count("has not answered"), 0);
    expect_end(ARGS("--lock=none", database_flag("nobody", "wrong", "seckill")), 69,
               ARGS("authentication failed for user \"nobody\"\n"));
    assert_int_equal(line_count("has not answered"), 0);
    (void)snprintf(redis, sizeof(redis), "--redis-url=redis://:wrong@%s",
                   strchr(rig_environment("SECKILL_REDIS_URL"), '@') + 1);
    expect_end(ARGS(redis), 69, ARGS("Redis is not available for --lock=reentrant: ", "WRONGPASS"));
    assert_int_equal(line_count("has not answered"), 0);
    expect_end(ARGS("--lock=none", "--database-url=postgresql://a:secret@h:port/x"), 64,
               ARGS("--database-url", "at character 25: a port is a number from 1 to 65535\n"));
    assert_null(strstr(said, "secret"));
    expect_end(ARGS("--lock=none", "--database-url=postgresql://a:secret@[::1/x"), 64,
               ARGS("--database-url", "must be postgresql://", "at character 23: "));
    assert_null(strstr(said, "secret"));
}

/* A start without tables ends at once, and names the missing table. */
TEST(missing_tables_end_the_start_at_once)
{
    char with_password[128];
    const char *url = rig_environment("SECKILL_DATABASE_URL");
    const char *colon = strchr(url + strlen("postgresql://"), ':');

    (void)snprintf(with_password, sizeof(with_password), "%.*s",
                   (int)(strchr(url, '@') - colon - 1), colon + 1);
    expect_end(ARGS("--lock=none",
                    database_flag("seckill_service", with_password, "postgres")),
               69, ARGS("PostgreSQL is not available: the database does not have the "
                        "tables of db/schema.sql: ", "does not exist"));
    assert_int_equal(line_count("has not answered"), 0);
    expect_end(ARGS("--lock=none",
                    database_flag("seckill_service", with_password, "no_such_database")),
               69, ARGS("database \"no_such_database\" does not exist\n"));
    assert_int_equal(line_count("has not answered"), 0);
    (void)memset(with_password, 0, sizeof(with_password));
}

/* A message of several lines becomes one line of the log; nothing is lost, and nothing unreadable
 * is left. */
TEST(several_lines_of_libpq_become_one)
{
    expect_end(ARGS("--start-timeout=0", "--lock=none",
                    "--database-url=postgresql://nobody@127.0.0.1:1,127.0.0.1:2/x"),
               69, ARGS("port 1 failed: Connection refused; Is the server running on that "
                        "host and accepting TCP/IP connections? connection to server at "
                        "\"127.0.0.1\", port 2 failed: Connection refused"));
    assert_null(strstr(said, "\n\t"));
    assert_null(strstr(said, "??"));
}

static struct rig_service service;

static bool has_complained(void *store)
{
    return rig_has_logged(&service, store);
}

static void await_complaint(const char *words)
{
    if (!rig_until(has_complained, (void *)(uintptr_t)words, RIG_PATIENCE_MS))
        fail_msg("no \"%s\" in %s", words, service.log);
}

/* The time that a service needs to end when it is stopped while it waits for PostgreSQL. */
static int64_t stop_during_the_start(const char *postgres)
{
    int64_t stopped_ns;

    service = rig_launch(ARGS("--lock=none", postgres));
    await_complaint("PostgreSQL has not answered for");
    stopped_ns = monotonic_ns();
    rig_signal(&service, SIGTERM);
    assert_int_equal(rig_wait(&service, RIG_PATIENCE_MS), 128 + SIGTERM);
    assert_true(rig_has_logged(&service, "ended during the start"));
    (void)unlink(service.log);
    (void)close(service.out);
    return (monotonic_ns() - stopped_ns) / 1000000;
}

/* An attempt lasts 2 s, and the start may take 30 s more. A loaded machine may be late sometimes,
 * but not in every try. */
TEST(a_stop_during_the_start_is_heard_at_once)
{
    enum { TRIES = 10, AT_ONCE_MS = 1500 };
    char postgres[96];
    int fd;
    int port = taken_port(&fd, true);
    int64_t took_ms = INT64_MAX;

    (void)snprintf(postgres, sizeof(postgres),
                   "--database-url=postgresql://nobody@127.0.0.1:%d/x", port);
    for (int i = 0; i < TRIES && took_ms > AT_ONCE_MS; i++)
        took_ms = stop_during_the_start(postgres);
    assert_true(took_ms <= AT_ONCE_MS);
    (void)close(fd);
}

/* The server hangs when the service is started, and goes on when the service has reported that. */
TEST(a_server_that_hangs_at_first_only_delays_the_start)
{
    static const struct {
        const char *server, *lock, *complaint;
    } STARTS[] = {
        {"postgres", "--lock=none", "PostgreSQL has not answered for"},
        {"postgres", "--lock=pg-advisory", "PostgreSQL has not answered for"},
        {"redis", "--lock=fair", "Redis has not answered for"},
    };

    rig_lab_up();
    for (size_t i = 0; i < sizeof(STARTS) / sizeof(STARTS[0]); i++) {
        pid_t pid = rig_lab_pid(STARTS[i].server);

        rig_lab_signal(pid, SIGSTOP);
        service = rig_launch(ARGS(STARTS[i].lock));
        await_complaint(STARTS[i].complaint);
        rig_lab_signal(pid, SIGCONT);
        rig_await_ready(&service);
        rig_stop(&service);
    }
    rig_lab_down();
}

static void tell_redis(const char *command)
{
    char line[512];

    (void)snprintf(line, sizeof(line), "redis-cli --no-auth-warning -u '%s' %s 2>&1",
                   rig_environment("SECKILL_REDIS_URL"), command);
    assert_string_equal(shell(line), "OK\n");
}

/* A Redis without memory, or that cannot save, answers and refuses the lock for now. */
TEST(a_server_that_refuses_for_now_only_delays_the_start)
{
    static const struct {
        const char *hurt, *complaint, *mend;
    } STARTS[] = {
        {"CONFIG SET maxmemory 1", "OOM command not allowed", "CONFIG SET maxmemory 0"},
        {"CONFIG SET min-replicas-to-write 1", "NOREPLICAS", "CONFIG SET min-replicas-to-write 0"},
    };

    rig_lab_up();
    for (size_t i = 0; i < sizeof(STARTS) / sizeof(STARTS[0]); i++) {
        tell_redis(STARTS[i].hurt);
        service = rig_launch(ARGS("--lock=lua"));
        await_complaint(STARTS[i].complaint);
        tell_redis(STARTS[i].mend);
        rig_await_ready(&service);
        rig_stop(&service);
    }
    rig_lab_down();
}

/* A majority of the nodes hangs, so that the lock cannot be taken, and then one of them goes on. */
TEST(redlock_waits_for_a_majority)
{
    static const char *const NODES[] = {"redlock-1", "redlock-2", "redlock-3"};
    pid_t pids[3];

    rig_lab_up();
    for (int i = 0; i < 3; i++) {
        pids[i] = rig_lab_pid(NODES[i]);
        assert_int_equal(kill(pids[i], SIGSTOP), 0);
    }
    service = rig_launch(ARGS("--lock=redlock"));
    await_complaint("2 of 5 nodes answered, 3 are needed");
    assert_int_equal(kill(pids[1], SIGCONT), 0);
    rig_await_ready(&service);
    rig_stop(&service);
    assert_int_equal(kill(pids[0], SIGCONT), 0);
    assert_int_equal(kill(pids[2], SIGCONT), 0);
    rig_lab_down();
}
