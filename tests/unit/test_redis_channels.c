/* SPDX-License-Identifier: MIT */
/* test_redis_channels.c -- the waiters of channels, and the commands to the server. */
#include <sched.h>
#include <stdio.h>
#include <string.h>

#include "base/os/clock.h"
#include "lock/stores/redis_wake.h"
#include "tests/registered.h"

static struct redis_channels channels;
static int nudge_count;
static char said[256];

static void nudge(void *arg)
{
    assert_ptr_equal(&channels, arg);
    nudge_count++;
}

static int set_up(void **state)
{
    (void)state;
    nudge_count = 0;
    redis_channels_init(&channels, nudge, &channels);
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    redis_channels_destroy(&channels);
    return 0;
}

static bool say(void *arg, const char *verb, const char *name)
{
    size_t len = strlen(said);

    (void)arg;
    snprintf(said + len, sizeof(said) - len, "%s %s;", verb, name);
    return true;
}

static bool say_nothing(void *arg, const char *verb, const char *name)
{
    (void)arg;
    (void)verb;
    (void)name;
    return false;
}

/* The commands that redis_channels_settle() sends now. */
static const char *settle(void)
{
    said[0] = '\0';
    assert_true(redis_channels_settle(&channels, say, NULL));
    return said;
}

static void hear(const char *what, const char *message)
{
    redis_channels_hear(&channels, what, "c", message);
}

/* Was the waiter woken? Takes the wake-up without sleeping. */
static bool woken(struct redis_waiter *waiter)
{
    return redis_waiter_sleep(waiter, 0);
}

static struct redis_waiter *join(const char *name)
{
    return redis_channels_join(&channels, name,
                               (struct redis_wake){.rule = &REDIS_WAKE_LOCK});
}

static struct redis_waiter *join_live(void)
{
    struct redis_waiter *waiter = join("c");

    assert_non_null(waiter);
    settle();
    hear("subscribe", NULL);
    assert_true(woken(waiter));
    return waiter;
}

TEST_WITH(set_up, tear_down, a_channel_is_subscribed_to_while_somebody_waits)
{
    struct redis_waiter *first = join("c");
    struct redis_waiter *second;

    assert_int_equal(1, nudge_count);
    assert_string_equal("SUBSCRIBE c;", settle());
    assert_string_equal("", settle());
    assert_false(woken(first)); /* the waiter may still miss a message */
    hear("subscribe", NULL);
    assert_true(woken(first)); /* from now on it misses none, so it has to look once more */
    assert_false(woken(first));
    second = join("c");
    assert_true(woken(second)); /* at once, since the channel is subscribed */
    assert_string_equal("", settle());
    redis_waiter_leave(first, true);
    assert_string_equal("", settle());
    redis_waiter_leave(second, true);
    assert_string_equal("UNSUBSCRIBE c;", settle());
    assert_non_null(channels.all);
    hear("unsubscribe", NULL);
    assert_string_equal("", settle());
    assert_null(channels.all);
}

TEST_WITH(set_up, tear_down, one_command_at_a_time_is_on_its_way)
{
    struct redis_waiter *waiter = join("c");

    assert_string_equal("SUBSCRIBE c;", settle());
    redis_waiter_leave(waiter, false);
    assert_string_equal("", settle()); /* no command before the answer */
    hear("subscribe", NULL);
    assert_string_equal("UNSUBSCRIBE c;", settle());
    waiter = join("c");
    assert_string_equal("", settle());
    assert_false(woken(waiter));
    hear("unsubscribe", NULL);
    assert_string_equal("SUBSCRIBE c;", settle());
    hear("subscribe", NULL);
    assert_true(woken(waiter));
    redis_waiter_leave(waiter, true);
}

TEST_WITH(set_up, tear_down, a_message_wakes_one_or_all)
{
    struct redis_waiter *first = join_live();
    struct redis_waiter *second = join("c");

    assert_true(woken(second));
    hear("message", "0");
    assert_false(woken(second));
    assert_true(woken(first)); /* the waiter that has waited longest */
    hear("message", "0");
    hear("message", "0"); /* the second message finds the first waiter awake */
    assert_true(woken(second));
    assert_true(woken(first));
    hear("message", "1");
    assert_true(woken(first));
    assert_true(woken(second));
    redis_channels_hear(&channels, "message", "other", "1");
    assert_false(woken(first));
    redis_waiter_leave(first, true);
    redis_waiter_leave(second, true);
}

static struct redis_waiter *join_by(const struct redis_wake_rule *rule, int64_t need)
{
    struct redis_wake wake = {.rule = rule, .need = need};
    struct redis_waiter *waiter = redis_channels_join(&channels, "c", wake);

    assert_non_null(waiter);
    settle();
    hear("subscribe", NULL);
    assert_true(woken(waiter));
    return waiter;
}

TEST_WITH(set_up, tear_down, permits_wake_those_for_whom_they_are_enough)
{
    struct redis_waiter *two = join_by(&REDIS_WAKE_SEMAPHORE, 2);
    struct redis_waiter *one = join_by(&REDIS_WAKE_SEMAPHORE, 1);
    struct redis_waiter *last = join_by(&REDIS_WAKE_SEMAPHORE, 1);

    (void)woken(two); /* the arrival of the other waiters has woken it */
    (void)woken(one);
    hear("message", "1");
    assert_false(woken(two)); /* one permit is too few for it */
    assert_true(woken(one));
    assert_false(woken(last));
    hear("message", "3");
    assert_true(woken(two));
    assert_true(woken(one));
    assert_false(woken(last));
    hear("message", "0");
    hear("message", "-4");
    assert_false(woken(two) || woken(one) || woken(last));
    hear("message", "9");
    assert_true(woken(two) && woken(one) && woken(last));
    redis_waiter_leave(two, true);
    redis_waiter_leave(one, true);
    redis_waiter_leave(last, true);
}

/* The waiter got its permit by asking, before the message of that permit had arrived. The message
 * of the next permit came before the waiter had left, so another waiter needs it. */
TEST_WITH(set_up, tear_down, who_leaves_with_a_permit_passes_on_what_it_does_not_need)
{
    struct redis_waiter *one = join_by(&REDIS_WAKE_SEMAPHORE, 1);
    struct redis_waiter *two = join_by(&REDIS_WAKE_SEMAPHORE, 2);
    struct redis_waiter *last = join_by(&REDIS_WAKE_SEMAPHORE, 1);

    (void)woken(one);
    (void)woken(two);
    (void)woken(last);
    hear("message", "1");
    hear("message", "1");
    assert_false(woken(last));
    redis_waiter_leave(one, true);
    assert_false(woken(two)); /* one permit is too few for it */
    assert_true(woken(last));
    redis_waiter_leave(two, false);
    redis_waiter_leave(last, true);
}

TEST_WITH(set_up, tear_down, each_message_of_a_latch_wakes_all)
{
    struct redis_waiter *first = join_by(&REDIS_WAKE_LATCH, 0);
    struct redis_waiter *second = join_by(&REDIS_WAKE_LATCH, 0);

    (void)woken(first);
    (void)woken(second);
    assert_int_equal(-1, redis_waiter_heard(first));
    hear("message", "1"); /* the latch was deleted, or set */
    assert_true(woken(first) && woken(second));
    assert_int_equal(1, redis_waiter_heard(first));
    assert_false(woken(first) || woken(second));
    hear("message", "0");
    assert_true(woken(first) && woken(second));
    assert_int_equal(0, redis_waiter_heard(second));
    redis_channels_reset(&channels);
    settle();
    hear("subscribe", NULL); /* messages may have been lost before the new subscription */
    assert_int_equal(-1, redis_waiter_heard(second));
    redis_waiter_leave(first, true);
    redis_waiter_leave(second, true);
}

TEST_WITH(set_up, tear_down, an_unused_wake_up_is_passed_on)
{
    struct redis_waiter *first = join_live();
    struct redis_waiter *second = join("c");
    struct redis_waiter *third = join("c");

    assert_true(woken(second) && woken(third));
    hear("message", "0");
    redis_waiter_leave(first, false); /* it gave up at this moment */
    assert_true(woken(second));
    hear("message", "0");
    /* It got the lock at this moment, and its release will wake another waiter. */
    redis_waiter_leave(second, true);
    assert_false(woken(third));
    redis_waiter_leave(third, true);
}

TEST_WITH(set_up, tear_down, a_wake_up_that_led_to_nothing_is_passed_on)
{
    struct redis_waiter *first = join_live();
    struct redis_waiter *second = join("c");

    assert_true(woken(second));
    hear("message", "0");
    assert_true(woken(first));
    redis_waiter_leave(first, false); /* its request had no answer */
    assert_true(woken(second));
    assert_false(woken(second)); /* its request was answered, since it waits again */
    redis_waiter_leave(second, true);
}

TEST_WITH(set_up, tear_down, a_new_connection_begins_anew)
{
    struct redis_waiter *waiter = join_live();
    struct redis_waiter *other = join("d");

    assert_string_equal("SUBSCRIBE d;", settle());
    redis_waiter_leave(other, false);
    redis_channels_reset(&channels);
    /* The channel d, without a waiter, is forgotten. */
    assert_string_equal("SUBSCRIBE c;", settle());
    assert_false(woken(waiter));
    hear("subscribe", NULL);
    assert_true(woken(waiter)); /* messages may have been missed */
    redis_waiter_leave(waiter, true);
    redis_channels_reset(&channels);
    assert_true(redis_channels_is_empty(&channels)); /* so that no further connection is needed */
    assert_string_equal("", settle());
}

TEST_WITH(set_up, tear_down, a_command_that_could_not_be_said_is_told)
{
    struct redis_waiter *waiter = join("c");

    assert_false(redis_channels_settle(&channels, say_nothing, NULL));
    redis_channels_reset(&channels); /* as after each end of a connection */
    assert_string_equal("SUBSCRIBE c;", settle());
    redis_waiter_leave(waiter, true);
}

static const struct redis_wake sole = {.rule = &REDIS_WAKE_SOLE};

TEST_WITH(set_up, tear_down, a_sole_waiter_that_comes_again_need_not_ask_again)
{
    struct redis_waiter *waiter = join_by(&REDIS_WAKE_SOLE, 0);

    hear("message", "0");
    assert_true(woken(waiter));
    nudge_count = 0;
    redis_waiter_leave(waiter, true);
    assert_string_equal("", settle());
    waiter = redis_channels_join(&channels, "c", sole);
    assert_string_equal("", settle());
    assert_int_equal(0, nudge_count);
    assert_false(woken(waiter)); /* the waiter has missed no message */
    hear("message", "0");
    assert_true(woken(waiter));
    redis_waiter_leave(waiter, true);
    hear("message", "0"); /* it has already asked again, and does not wait yet */
    waiter = redis_channels_join(&channels, "c", sole);
    assert_true(woken(waiter));
    redis_waiter_leave(waiter, true);
    waiter = redis_channels_join(&channels, "c", sole);
    assert_false(woken(waiter)); /* the message was used by the earlier wait */
    redis_waiter_leave(waiter, true);
}

TEST_WITH(set_up, tear_down, a_sole_waiters_channel_is_left_in_the_end)
{
    struct redis_waiter *waiter = join_by(&REDIS_WAKE_SOLE, 0);
    int64_t end_ns = dlock_clock_after(dlock_clock_ns(), 20 * REDIS_LINGER_MS);

    redis_waiter_leave(waiter, true);
    while (settle()[0] == '\0' && dlock_clock_ns() < end_ns) /* the channel stays for a while */
        sched_yield();
    assert_string_equal("UNSUBSCRIBE c;", said);
    waiter = redis_channels_join(&channels, "c", sole);
    hear("unsubscribe", NULL);
    assert_string_equal("SUBSCRIBE c;", settle());
    assert_false(woken(waiter));
    hear("subscribe", NULL);
    assert_true(woken(waiter)); /* the waiter may have missed a message */
    redis_waiter_leave(waiter, true);
}

TEST_WITH(set_up, tear_down, nothing_lingers_over_a_new_connection)
{
    struct redis_waiter *waiter = join_by(&REDIS_WAKE_SOLE, 0);

    redis_waiter_leave(waiter, true);
    redis_channels_reset(&channels);
    waiter = redis_channels_join(&channels, "c", sole);
    assert_string_equal("SUBSCRIBE c;", settle());
    assert_false(woken(waiter));
    hear("subscribe", NULL);
    assert_true(woken(waiter));
    redis_waiter_leave(waiter, true);
    redis_channels_reset(&channels);
    assert_string_equal("", settle());
    assert_null(channels.all);
}
