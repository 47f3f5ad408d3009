/* SPDX-License-Identifier: MIT */
/* test_control.c -- the laboratory reads the memory page that it shares with wrk. */
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include "loadtest/sale/control.h"
#include "tests/registered.h"

static struct control control;

static int open_page(void **state)
{
    char path[64];

    (void)state;
    snprintf(path, sizeof path, "/tmp/seckill-control-%d", (int)getpid());
    if (!control_open(&control, path))
        return -1;
    return unlink(path);
}

static int close_page(void **state)
{
    (void)state;
    control_close(&control);
    return 0;
}

/* Write the counter as wrk/control.lua does. */
static void set_tried(int thread, int64_t era, int64_t count)
{
    control.page[CONTROL_THREAD * thread + CONTROL_TRIED] = count;
    control.page[CONTROL_THREAD * thread + CONTROL_TRIED_ERA] = era;
}

/* The page's blocks on the disk are allocated, so that a full disk cannot end a process that writes
 * to it. */
TEST(the_page_has_no_hole)
{
    struct stat seen;
    char path[64];

    snprintf(path, sizeof path, "/tmp/seckill-control-hole-%d", (int)getpid());
    assert_true(control_open(&control, path));
    assert_int_equal(stat(path, &seen), 0);
    assert_int_equal(seen.st_size, CONTROL_SIZE);
    assert_true(seen.st_blocks * 512 >= CONTROL_SIZE);
    control_close(&control);
    assert_int_equal(unlink(path), 0);
}

TEST_WITH(open_page, close_page, at_first_nobody_has_tried)
{
    assert_int_equal(control_tried(&control), 0);
    control_begin_era(&control);
    assert_int_equal(control_tried(&control), 0);
}

TEST_WITH(open_page, close_page, only_what_was_counted_in_this_era_counts)
{
    int64_t era = control.page[CONTROL_ERA];

    set_tried(1, era, 5);
    set_tried(CONTROL_THREADS_MAX, era, 2);
    set_tried(3, era - 1, 100);
    assert_int_equal(control_tried(&control), 7);
    control_begin_era(&control);
    assert_int_equal(control_tried(&control), 0);
    set_tried(1, era + 1, 1);
    assert_int_equal(control_tried(&control), 1);
}

TEST_WITH(open_page, close_page, threads_do_not_share_numbers)
{
    for (int thread = 1; thread <= CONTROL_THREADS_MAX; thread++)
        control.page[CONTROL_THREAD * thread + CONTROL_TRIED_ERA] = thread;
    for (int thread = 1; thread <= CONTROL_THREADS_MAX; thread++)
        for (int number = CONTROL_SENT; number < CONTROL_TRIED_ERA; number++)
            assert_int_equal(control_of(&control, thread, number), 0);
    assert_true((CONTROL_THREAD * CONTROL_THREADS_MAX + CONTROL_TRIED_ERA + 1) *
                    (int)sizeof(int64_t) <=
                CONTROL_SIZE);
}
