/* SPDX-License-Identifier: MIT */
/* test_lock_clock.c -- deadlines on a machine that is suspended, and on a machine whose wall clock
 * is set.
 *
 * The clocks are the kernel's clocks plus an offset of the test: this file replaces the C
 * library's clock_gettime(). */
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "base/os/clock.h"
#include "tests/registered.h"

enum { HOUR_S = 3600 };

static time_t slept_s; /* the time for which the machine was suspended */
static time_t set_s;   /* the time by which the wall clock was set */

int clock_gettime(clockid_t id, struct timespec *ts)
{
    int rc = (int)syscall(SYS_clock_gettime, id, ts);

    if (id == CLOCK_BOOTTIME || id == CLOCK_REALTIME)
        ts->tv_sec += slept_s;
    if (id == CLOCK_REALTIME)
        ts->tv_sec += set_s;
    return rc;
}

static int set_up(void **state)
{
    (void)state;
    slept_s = set_s = 0;
    return 0;
}

TEST_WITH(set_up, NULL, a_lease_runs_out_while_the_machine_sleeps)
{
    int64_t before_ns = dlock_clock_ns();

    slept_s = HOUR_S;
    assert_true(dlock_clock_ns() >= dlock_clock_after(before_ns, HOUR_S * 1000));
    assert_int_equal(0, dlock_clock_poll_ms(dlock_clock_after(before_ns, HOUR_S * 1000)));
    dlock_clock_sleep_until(dlock_clock_after(before_ns, HOUR_S * 1000));
}

TEST_WITH(set_up, NULL, setting_the_wall_clock_moves_no_deadline)
{
    int64_t before_ns = dlock_clock_ns();

    set_s = -HOUR_S;
    assert_true(dlock_clock_ns() >= before_ns);
    set_s = HOUR_S;
    assert_true(dlock_clock_ns() < dlock_clock_after(before_ns, HOUR_S * 1000));
}

TEST_WITH(set_up, NULL, the_wall_clock_is_the_one_that_is_set)
{
    int64_t before_ms = dlock_clock_wall_ms();

    set_s = HOUR_S;
    assert_true(dlock_clock_wall_ms() >= before_ms + HOUR_S * 1000);
}
