/* SPDX-License-Identifier: MIT */
/* test_redis_acknowledged.c -- the answers to WAIT, and the outcome of the write for each
 * answer. */
#include "tests/registered.h"
#include "tests/topology/fake_servers.h"

#include "base/os/clock.h"
#include "base/redis/acknowledged.h"

enum { TIMEOUT_MS = 2000, SHORT_MS = 50 };

static const struct redis_command SET = {
    6, {"SET", "key", "token", "NX", "PX", "30000"}, REDIS_SHAPE_SET};

static bool is_set(const struct redis_answer *answer)
{
    return answer->kind == REDIS_STATUS;
}

static struct redis_link *link_to_fake(int replica_count, int timeout_ms)
{
    struct redis_url url;
    struct redis_link *link;
    char text[64], why[REDIS_WHY_SIZE];

    snprintf(text, sizeof(text), "redis://127.0.0.1:%d", fakes[0].port);
    assert_true(redis_url_parse(text, &url, why, sizeof(why)));
    link = redis_link_new(NULL, &url, timeout_ms, false);
    assert_non_null(link);
    redis_link_need_replicas(link, replica_count);
    return link;
}

static struct redis_answer write_by(struct redis_link *link)
{
    struct redis_write write = {.command = &SET, .is_done = is_set};
    struct redis_answer answer;

    redis_write_exchange(link, &write, INT64_MAX, &answer);
    return answer;
}

static int start_fake(void **state)
{
    (void)state;
    start(&fakes[0]);
    say(&fakes[0], ON_ANYTHING, "+OK\r\n");
    return 0;
}

static int stop_fake(void **state)
{
    (void)state;
    stop(&fakes[0]);
    return 0;
}

TEST_WITH(start_fake, stop_fake, enough_replicas_are_enough)
{
    struct redis_link *link = link_to_fake(2, TIMEOUT_MS);
    uint64_t before = *redis_unacknowledged_here();

    say(&fakes[0], ON_WAIT, ":2\r\n");
    assert_int_equal(REDIS_ANSWERED, write_by(link).outcome);
    say(&fakes[0], ON_WAIT, ":5\r\n"); /* more than were asked for */
    assert_int_equal(REDIS_ANSWERED, write_by(link).outcome);
    assert_int_equal(2, atomic_load(&fakes[0].heard[ON_WAIT]));
    assert_int_equal(before, *redis_unacknowledged_here());
    redis_link_close(link);
}

TEST_WITH(start_fake, stop_fake, nothing_is_waited_for_where_nothing_was_written)
{
    struct redis_link *link = link_to_fake(1, TIMEOUT_MS);

    say(&fakes[0], ON_ANYTHING, "$-1\r\n");
    assert_int_equal(REDIS_ANSWERED, write_by(link).outcome);
    assert_int_equal(0, atomic_load(&fakes[0].heard[ON_WAIT]));
    redis_link_close(link);
    link = link_to_fake(0, TIMEOUT_MS);
    say(&fakes[0], ON_ANYTHING, "+OK\r\n");
    assert_int_equal(REDIS_ANSWERED, write_by(link).outcome);
    assert_int_equal(0, atomic_load(&fakes[0].heard[ON_WAIT]));
    redis_link_close(link);
}

TEST_WITH(start_fake, stop_fake, too_few_replicas_are_told)
{
    struct redis_link *link = link_to_fake(2, TIMEOUT_MS);
    uint64_t before = *redis_unacknowledged_here();
    struct redis_answer answer;

    say(&fakes[0], ON_WAIT, ":1\r\n");
    answer = write_by(link);
    assert_int_equal(REDIS_UNKNOWN, answer.outcome);
    assert_non_null(strstr(answer.text, "acknowledged by 1 of 2 replicas in "));
    assert_int_equal(before + 1, *redis_unacknowledged_here());
    redis_link_close(link);
}

/* After any other answer, the write does not count as acknowledged, and the next write is not
 * affected. */
TEST_WITH(start_fake, stop_fake, rubbish_acknowledges_nothing)
{
    static const char *const RUBBISH[] = {
        "+OK\r\n", "+1\r\n", "$1\r\n1\r\n", ":-1\r\n", ":-9223372036854775808\r\n", ":65536\r\n",
        ":9223372036854775807\r\n", ":99999999999999999999\r\n", "*1\r\n:1\r\n", "$-1\r\n",
        "*-1\r\n", "-ERR unknown command 'WAIT'\r\n", "-READONLY replica\r\n",
        "-NOPERM this user has no permissions to run the 'wait' command\r\n", "rubbish\r\n",
        ":x\r\n",
    };
    struct redis_link *link = link_to_fake(1, TIMEOUT_MS);

    for (size_t i = 0; i < sizeof(RUBBISH) / sizeof(RUBBISH[0]); i++) {
        struct redis_answer answer;

        say(&fakes[0], ON_WAIT, RUBBISH[i]);
        answer = write_by(link);
        if (answer.outcome != REDIS_UNKNOWN)
            print_error("%s\n", RUBBISH[i]);
        assert_int_equal(REDIS_UNKNOWN, answer.outcome);
        assert_non_null(strstr(answer.text, "WAIT for replicas, 1 of them, failed: "));
        say(&fakes[0], ON_WAIT, ":1\r\n");
        assert_int_equal(REDIS_ANSWERED, write_by(link).outcome);
    }
    redis_link_close(link);
}

/* The server sends two answers. The second one belongs to no request, and must not be taken for the
 * answer to the next write. */
TEST_WITH(start_fake, stop_fake, an_answer_too_many_is_nobodys)
{
    struct redis_link *link = link_to_fake(1, TIMEOUT_MS);

    say(&fakes[0], ON_WAIT, ":1\r\n+OK\r\n");
    assert_int_equal(REDIS_ANSWERED, write_by(link).outcome);
    say(&fakes[0], ON_ANYTHING, "$-1\r\n"); /* the write was not executed */
    say(&fakes[0], ON_WAIT, ":0\r\n");
    assert_int_equal(REDIS_NIL, write_by(link).kind);
    redis_link_close(link);
}

/* The server may wait until the timeout of WAIT, so the library waits a little longer. */
TEST_WITH(start_fake, stop_fake, silence_ends)
{
    struct redis_link *link = link_to_fake(1, SHORT_MS);
    struct redis_answer answer;

    say(&fakes[0], ON_WAIT, NULL);
    answer = write_by(link);
    for (int i = 0; i < 100 && atomic_load(&fakes[0].heard[ON_WAIT]) == 0; i++)
        answer = write_by(link); /* the SET itself may be late on a busy machine */
    assert_int_equal(REDIS_UNKNOWN, answer.outcome);
    assert_non_null(strstr(answer.text, "no answer in time"));
    redis_link_close(link);
}
