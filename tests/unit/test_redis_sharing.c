/* SPDX-License-Identifier: MIT */
/* test_redis_sharing.c -- many threads on one connection to a real server, while the
 * server is stopped, cut off and killed.  The laws try many threads on whole locks. */
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/os/clock.h"
#include "base/redis/link_inside.h"
#include "lock/stores/redis_request.h"
#include "tests/registered.h"
#include "tests/unit/redis_server.h"

enum {
    THREADS_MAX = 50,
    SHORT_MS = 200,
    BIG_SIZE = 1 << 20, /* more than the buffers of a socket hold */
};

static struct redis_link *shared;

/* ---- the server ---- */

/* The number of the link's connection at the server. */
static int64_t connection_id(void)
{
    static const struct redis_command id = {2, {"CLIENT", "ID"}, REDIS_SHAPE_ANY};
    struct redis_answer answer;

    assert_int_equal(DLOCK_OK, redis_call(shared, &id, INT64_MAX, &answer));
    return answer.integer;
}

static int set_up(void **state)
{
    (void)state;
    alarm(120); /* a hang ends the program by a signal */
    make_server();
    assert_int_equal(DLOCK_OK,
                     redis_link_open(&shared, server.url, PATIENCE_MS, false));
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    redis_link_close(shared);
    kill_server();
    return rmdir(server.dir);
}

/* ---- threads that use the link ---- */

static atomic_int ok_count, unknown_count, io_count, wrong_count;

/* Send a request whose answer only this caller can get. */
static dlock_status echo(struct redis_link *link, const char *value, int64_t give_up_ns)
{
    struct redis_command command = {2, {"ECHO", value}, REDIS_SHAPE_ANY};
    struct redis_answer answer;
    dlock_status st = redis_call(link, &command, give_up_ns, &answer);

    if (st == DLOCK_OK && strcmp(answer.text, value) != 0)
        atomic_fetch_add(&wrong_count, 1);
    return st;
}

static void count(dlock_status st)
{
    if (st == DLOCK_OK)
        atomic_fetch_add(&ok_count, 1);
    else if (st == DLOCK_UNKNOWN)
        atomic_fetch_add(&unknown_count, 1);
    else if (st == DLOCK_IO)
        atomic_fetch_add(&io_count, 1);
    else
        atomic_fetch_add(&wrong_count, 1);
}

static void *echo_once(void *arg)
{
    char value[48];

    snprintf(value, sizeof(value), "%p", arg);
    count(echo(shared, value, INT64_MAX));
    return NULL;
}

static pthread_t threads[THREADS_MAX];
static char stacks[THREADS_MAX]; /* a different address for each thread */

static void begin(void *(*run)(void *), int thread_count, void *arg)
{
    atomic_store(&ok_count, 0);
    atomic_store(&unknown_count, 0);
    atomic_store(&io_count, 0);
    atomic_store(&wrong_count, 0);
    for (int i = 0; i < thread_count; i++)
        assert_int_equal(0, pthread_create(&threads[i], NULL, run,
                                           arg != NULL ? arg : &stacks[i]));
}

static void finish(int thread_count)
{
    for (int i = 0; i < thread_count; i++)
        pthread_join(threads[i], NULL);
    assert_int_equal(0, atomic_load(&wrong_count));
}

static size_t queued(void)
{
    size_t n;

    redis_link_group_lock(shared->group);
    n = redis_queue_count(&shared->queue);
    redis_link_group_unlock(shared->group);
    return n;
}

static bool is_full(void)
{
    bool full;

    redis_link_group_lock(shared->group);
    full = shared->is_full;
    redis_link_group_unlock(shared->group);
    return full;
}

/* ---- tests ---- */

TEST_WITH(set_up, tear_down, a_cut_while_nobody_asks_is_not_noticed)
{
    for (int i = 0; i < 5; i++) {
        assert_int_equal(DLOCK_OK, echo(shared, "before", INT64_MAX));
        tell("CLIENT KILL TYPE normal SKIPME yes");
        assert_comes(tell("CLIENT LIST") == 1);
    }
    assert_int_equal(DLOCK_OK, echo(shared, "after", INT64_MAX));
}

TEST_WITH(set_up, tear_down, a_late_answer_is_nobody_elses)
{
    int64_t id;

    assert_int_equal(DLOCK_OK, echo(shared, "before", INT64_MAX));
    id = connection_id();
    stop_server();
    assert_int_equal(DLOCK_UNKNOWN,
                     echo(shared, "abandoned",
                          dlock_clock_after(dlock_clock_ns(), SHORT_MS)));
    assert_int_equal(1, queued());
    kill(server.pid, SIGCONT);
    assert_int_equal(DLOCK_OK, echo(shared, "next", INT64_MAX));
    assert_int_equal(DLOCK_OK, echo(shared, "one more", INT64_MAX));
    assert_int_equal(0, atomic_load(&wrong_count));
    assert_int_equal(0, queued());
    /* The refusal did not cost the connection. */
    assert_int_equal(id, connection_id());
}

/* The server is stopped, and a request that is larger than the buffers was sent in part. */
static dlock_status jam(void)
{
    char *big = malloc(BIG_SIZE + 1);
    struct redis_command set = {3, {"SET", "big", big}, REDIS_SHAPE_ANY};
    struct redis_answer answer;
    dlock_status st;

    assert_non_null(big);
    memset(big, 'x', BIG_SIZE);
    big[BIG_SIZE] = '\0';
    st = redis_call(shared, &set, dlock_clock_after(dlock_clock_ns(), SHORT_MS),
                    &answer);
    free(big);
    assert_true(is_full());
    return st;
}

TEST_WITH(set_up, tear_down, what_did_not_leave_is_io_the_rest_unknown)
{
    pthread_t first;

    assert_int_equal(DLOCK_OK, echo(shared, "before", INT64_MAX));
    stop_server();
    begin(echo_once, 1, NULL);
    first = threads[0];
    assert_comes(queued() == 1);
    assert_int_equal(DLOCK_UNKNOWN, jam());
    begin(echo_once, 1, NULL);
    assert_comes(queued() == 3);
    kill_server();
    pthread_join(first, NULL);
    finish(1);
    assert_int_equal(1, atomic_load(&unknown_count));
    assert_int_equal(1, atomic_load(&io_count));
    start_server();
    assert_comes(echo(shared, "after", INT64_MAX) == DLOCK_OK);
}

TEST_WITH(set_up, tear_down, a_given_up_request_that_did_not_leave_is_never_sent)
{
    struct redis_command incr = {2, {"INCR", "n"}, REDIS_SHAPE_ANY};
    struct redis_answer answer;

    assert_int_equal(DLOCK_OK, echo(shared, "before", INT64_MAX));
    stop_server();
    assert_int_equal(DLOCK_UNKNOWN, jam());
    assert_int_equal(DLOCK_IO, redis_call(shared, &incr,
                                          dlock_clock_after(dlock_clock_ns(), SHORT_MS),
                                          &answer));
    kill(server.pid, SIGCONT);
    assert_int_equal(DLOCK_OK, echo(shared, "after", INT64_MAX));
    assert_int_equal(0, atomic_load(&wrong_count));
    assert_int_equal(BIG_SIZE, tell("STRLEN big"));
    assert_int_equal(0, tell("EXISTS n"));
}

TEST_WITH(set_up, tear_down, a_hung_server_holds_nobody)
{
    enum { THREADS = 50 };

    redis_link_close(shared);
    assert_int_equal(DLOCK_OK, redis_link_open(&shared, server.url, SHORT_MS, false));
    assert_int_equal(DLOCK_OK, echo(shared, "before", INT64_MAX));
    stop_server();
    for (int round = 1; round <= 3; round++) {
        begin(echo_once, THREADS, NULL);
        finish(THREADS);
        assert_int_equal(THREADS,
                         atomic_load(&unknown_count) + atomic_load(&io_count));
        assert_true(queued() <= THREADS); /* not the sum over the rounds */
    }
    kill(server.pid, SIGCONT);
    assert_comes(echo(shared, "after", INT64_MAX) == DLOCK_OK);
    assert_comes(tell("CLIENT LIST") == 2);
}

static void *set_big(void *arg)
{
    char *big = malloc(BIG_SIZE + 1);
    char key[32];
    struct redis_command set = {3, {"SET", key, big}, REDIS_SHAPE_ANY};
    struct redis_answer answer;

    if (big == NULL)
        return NULL;
    memset(big, 'x', BIG_SIZE);
    big[BIG_SIZE] = '\0';
    snprintf(key, sizeof(key), "%p", arg);
    count(redis_call(shared, &set, INT64_MAX, &answer));
    free(big);
    return NULL;
}

TEST_WITH(set_up, tear_down, a_batch_larger_than_the_socket_arrives)
{
    enum { THREADS = 40 };

    begin(set_big, THREADS, NULL);
    finish(THREADS);
    assert_int_equal(THREADS, atomic_load(&ok_count));
    assert_int_equal(THREADS, tell("DBSIZE"));
    assert_int_equal(2, tell("CLIENT LIST"));
}
