/* SPDX-License-Identifier: MIT */
/* test_proxy.c -- a real Redis behind a proxy that causes faults on command. */
#include "tests/registered.h"
#include "tests/unit/proxied_redis.h"

static void *take_lock(void *arg)
{
    dlock_lease lease;

    return (void *)(intptr_t)dlock_acquire(arg, "lock:lost", 0, &lease);
}

TEST_WITH(set_up, tear_down, a_lost_reply_is_unknown_and_the_lock_is_in_the_store)
{
    dlock_options options = dlock_options_default();
    dlock_system *sys = NULL;
    char url[64];
    pthread_t thread;
    void *answer;
    int fault;

    snprintf(url, sizeof(url), "redis://127.0.0.1:%d", proxy_port(wire));
    options.variant = "lua";
    options.redis_url = url;
    options.redis_timeout_ms = 500;
    assert_int_equal(DLOCK_OK, dlock_open(&sys, &options));
    fault = arm("drop:1 to-client at to-server lock:lost");
    /* Otherwise the library would release the lock before the test can see it. */
    arm("drop:all to-server after to-client message 0 of connection 2");
    assert_int_equal(0, pthread_create(&thread, NULL, take_lock, sys));
    assert_true(proxy_wait(wire, fault, PATIENCE_MS));
    assert_int_equal(1, tell("EXISTS lock:lost"));
    pthread_join(thread, &answer);
    assert_int_equal(DLOCK_UNKNOWN, (int)(intptr_t)answer);
    dlock_close(sys);
}

TEST_WITH(set_up, tear_down, a_reply_is_cut_in_the_middle)
{
    int fd = call();
    int fault = arm("cut to-client after message 1 byte 3");

    say(fd, "PING\r\nPING\r\n");
    hears(fd, "+PONG\r\n+PO");
    assert_int_equal(ECONNRESET, end_of(fd));
    assert_true(proxy_wait(wire, fault, 0));
    close(fd);
    fd = call();
    arm("cut:fin to-server at \"SET b\" byte 5 of connection 2");
    say(fd, "SET a 1\r\n");
    hears(fd, "+OK\r\n");
    say(fd, "SET b 1\r\n");
    assert_int_equal(0, end_of(fd));
    assert_int_equal(1, tell("EXISTS a b"));
    close(fd);
}

TEST_WITH(set_up, tear_down, held_replies_come_later_and_in_order)
{
    int fd = call();
    int fault = arm("hold to-client after message 1");
    struct proxy_strike strike;
    int64_t before_ns = dlock_clock_ns();

    say(fd, "ECHO 1\r\nECHO 2\r\nECHO 3\r\n");
    hears(fd, "$1\r\n1\r\n");
    assert_true(proxy_wait(wire, fault, PATIENCE_MS));
    hears_nothing(fd);
    say(fd, "ECHO 4\r\n");
    assert_true(proxy_look(wire, fault, &strike));
    assert_true(strike.strikes == 1 && strike.connection == 1);
    assert_true(strike.first_ns >= before_ns && strike.first_ns <= dlock_clock_ns());
    arm("release to-client");
    hears(fd, "$1\r\n2\r\n$1\r\n3\r\n$1\r\n4\r\n");
    say(fd, "PING\r\n"); /* nothing is held any more */
    hears(fd, "+PONG\r\n");
    close(fd);
}

TEST_WITH(set_up, tear_down, a_hold_is_released_by_what_another_connection_says)
{
    int first = call(), second;
    int hold = arm("hold to-client of connection 1");

    say(first, "PING\r\n");
    assert_true(proxy_wait(wire, hold, PATIENCE_MS));
    arm("release to-client at to-server GO of connection 2");
    hears_nothing(first);
    second = call();
    say(second, "ECHO GO\r\n");
    hears(first, "+PONG\r\n");
    hears(second, "$2\r\nGO\r\n");
    close(first);
    close(second);
}

TEST_WITH(set_up, tear_down, a_delay_keeps_every_byte_and_the_order)
{
    int fd = call();
    int64_t before_ns = dlock_clock_ns();

    arm("delay:80ms to-client");
    say(fd, "ECHO 1\r\nECHO 2\r\n");
    hears(fd, "$1\r\n1\r\n$1\r\n2\r\n");
    assert_true(dlock_clock_ns() - before_ns >= 80 * DLOCK_NS_PER_MS);
    close(fd);
}

TEST_WITH(set_up, tear_down, exactly_one_reply_of_a_pipeline_is_dropped)
{
    int fd = call();
    int fault = arm("drop:1 to-client at to-server LOST");

    say(fd, "ECHO 1\r\nECHO LOST\r\nECHO 3\r\nECHO LOST\r\n");
    hears(fd, "$1\r\n1\r\n$1\r\n3\r\n$4\r\nLOST\r\n");
    assert_true(proxy_wait(wire, fault, 0));
    assert_int_equal(strlen("$4\r\nLOST\r\n"), stats().dropped[PROXY_TO_CLIENT]);
    assert_int_equal(4, stats().messages[PROXY_TO_CLIENT]);
    close(fd);
}

TEST_WITH(set_up, tear_down, what_cannot_strike_is_refused_or_counted)
{
    static const struct {
        const char *fault, *says;
    } cases[] = {
        {"release to-client", "nothing is held there"},
        {"cut to-client after message 0 of connection 1", "past that point"},
        {"cut to-client after byte 3 of connection 1", "past that point"},
        {"cut to-client of connection 2", "that connection has ended"},
        {"cutt to-client", "did you mean"},
    };
    int fd = call(), gone;

    say(fd, "PING\r\n");
    hears(fd, "+PONG\r\n");
    gone = call();
    close(gone);
    assert_comes(stats().connections == 2 && stats().open == 1);
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        assert_int_equal(-1, proxy_arm(wire, cases[i].fault, why));
        if (strstr(why, cases[i].says) == NULL)
            fail_msg("%s: said %s", cases[i].fault, why);
    }
    assert_int_equal(-1, proxy_arm_script(wire, " # nothing\n", why));
    assert_int_equal(0, stats().armed);
    assert_int_equal(2, proxy_arm_script(wire, "cut to-client at NO; hold to-server", why));
    say(fd, "PING\r\n");
    assert_true(proxy_wait(wire, 1, PATIENCE_MS));
    assert_false(proxy_wait(wire, 0, 1));
    assert_int_equal(1, stats().unstruck);
    assert_false(proxy_wait(wire, 99, PATIENCE_MS)); /* there is no such fault */
    close(fd);
}

GROUP(start_server, stop_server)
