/* SPDX-License-Identifier: MIT */
/* test_later_record.c -- the record of a release without waiting: its answer is
 * recorded when it came, and the checker finds no fault. */
#include "tests/registered.h"
#include "tests/unit/proxied_redis.h"
#include "tests/unit/recorder_run.h"

enum { TIMEOUT_MS = 300, PAUSE_MS = 20 };

#define NAME "later"

static dlock_system *open_system(int timeout_ms)
{
    static char url[96];
    dlock_options opts = dlock_options_default();
    dlock_system *sys = NULL;

    snprintf(url, sizeof(url), "unix://%s", server.path);
    opts.redis_url = url;
    opts.record_dir = dir;
    opts.redis_timeout_ms = timeout_ms;
    assert_int_equal(DLOCK_OK, dlock_open(&sys, &opts));
    return sys;
}

/* The first release in the history. */
static const struct history_call *release_of(const struct history *h)
{
    size_t i = 0;

    while (i < h->call_count && h->calls[i].kind != DLOCK_EVENT_RELEASE)
        i++;
    assert_true(i < h->call_count);
    return &h->calls[i];
}

/* Stop the server until a time, which is returned; for longer than a request waits if `is_long`. */
static int64_t release_beside_a_server_that_stands(dlock_system *sys, bool is_long)
{
    dlock_lease lease;
    int64_t stood_ns;

    assert_int_equal(DLOCK_OK, dlock_acquire(sys, NAME, 0, &lease));
    assert_int_equal(0, kill(server.pid, SIGSTOP));
    assert_int_equal(DLOCK_OK, dlock_release_later(sys, &lease));
    assert_int_equal(1, dlock_pay_debts(sys, is_long ? 3 * TIMEOUT_MS : PAUSE_MS));
    stood_ns = dlock_clock_ns();
    assert_int_equal(0, kill(server.pid, SIGCONT));
    return stood_ns;
}

static void take_and_close(dlock_system *sys)
{
    dlock_lease lease;

    assert_int_equal(DLOCK_OK, dlock_acquire(sys, NAME, -1, &lease));
    assert_int_equal(DLOCK_OK, dlock_release(sys, &lease));
    dlock_close(sys);
}

static int begin_test(void **state)
{
    return make_dir(state) + set_up(state);
}

static int end_test(void **state)
{
    return tear_down(state) + remove_dir(state);
}

TEST_WITH(begin_test, end_test, the_answer_is_recorded_when_it_came)
{
    dlock_system *sys = open_system(PATIENCE_MS);
    dlock_system *other = open_system(PATIENCE_MS);
    int64_t stood_ns = release_beside_a_server_that_stands(sys, false);
    struct history h;

    take_and_close(other);
    assert_int_equal(0, dlock_pay_debts(sys, -1));
    dlock_close(sys);
    h = read_back();
    assert_true(release_of(&h)->is_answered);
    assert_int_equal(DLOCK_OK, release_of(&h)->status);
    assert_true(release_of(&h)->invoke_ns < stood_ns);
    assert_true(release_of(&h)->answer_ns >= stood_ns);
    assert_int_equal(VERDICT_VALID, judge(&h));
    history_free(&h);
}

/* The first request got no answer, and may have freed the lock. The record must say so. */
TEST_WITH(begin_test, end_test, a_repeated_release_is_recorded_as_unknown)
{
    dlock_system *sys = open_system(TIMEOUT_MS);
    dlock_system *other = open_system(PATIENCE_MS);
    int64_t stood_ns = release_beside_a_server_that_stands(sys, true);
    const struct history_call *release;
    struct history h;

    take_and_close(other);
    assert_int_equal(0, dlock_pay_debts(sys, -1));
    dlock_close(sys);
    h = read_back();
    release = release_of(&h);
    assert_true(release->is_answered);
    assert_true(release->status == DLOCK_UNKNOWN || release->status == DLOCK_OK);
    assert_true(release->answer_ns >= stood_ns);
    assert_int_equal(VERDICT_VALID, judge(&h));
    history_free(&h);
}

/* The record does not say whether the release happened. */
TEST_WITH(begin_test, end_test, a_debt_that_remains_is_a_call_without_an_answer)
{
    dlock_system *sys = open_system(TIMEOUT_MS);
    struct history h;
    dlock_lease lease;

    assert_int_equal(DLOCK_OK, dlock_acquire(sys, NAME, 0, &lease));
    assert_int_equal(0, kill(server.pid, SIGSTOP));
    assert_int_equal(DLOCK_OK, dlock_release_later(sys, &lease));
    dlock_close(sys);
    assert_non_null(strstr(dlock_error(), "1 release"));
    assert_int_equal(0, kill(server.pid, SIGCONT));
    h = read_back();
    assert_false(release_of(&h)->is_answered);
    assert_int_equal(VERDICT_VALID, judge(&h));
    history_free(&h);
}

GROUP(start_server, stop_server)
