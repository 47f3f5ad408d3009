/* SPDX-License-Identifier: MIT */
/* test_thread_group.c -- a group of threads repeats one operation and counts it. */
#include <stdatomic.h>

#include "loadtest/kit/thread_group.h"
#include "tests/registered.h"

enum { THREADS = 4, TIMES = 1000 };

struct tally {
    atomic_int calls;
    atomic_int seen[THREADS]; /* calls of each thread */
    enum thread_group_answer answer;
    int fail_at; /* the call that fails; 0: none */
};

static enum thread_group_answer count(void *arg, int index)
{
    struct tally *tally = arg;
    int n = atomic_fetch_add(&tally->calls, 1) + 1;

    atomic_fetch_add(&tally->seen[index], 1);
    return n == tally->fail_at ? THREAD_GROUP_FAILED : tally->answer;
}

TEST(a_round_is_done_exactly_so_many_times)
{
    struct tally tally = {.answer = THREAD_GROUP_DONE};
    struct thread_group group = {THREADS, count, &tally};

    assert_true(thread_group_repeat(&group, TIMES));
    assert_int_equal(atomic_load(&tally.calls), TIMES);
}

TEST(every_thread_takes_part_when_it_is_timed)
{
    struct tally tally = {.answer = THREAD_GROUP_DONE};
    struct thread_group group = {THREADS, count, &tally};
    struct thread_group_score score = {0};

    assert_true(thread_group_run(&group, 20, &score));
    for (int i = 0; i < THREADS; i++)
        assert_true(atomic_load(&tally.seen[i]) > 0);
    assert_true(score.per_s > 0);
    assert_true(score.missed == 0);
}

TEST(a_round_without_effect_is_not_counted)
{
    struct tally tally = {.answer = THREAD_GROUP_MISSED};
    struct thread_group group = {THREADS, count, &tally};
    struct thread_group_score score = {0};

    assert_true(thread_group_run(&group, 20, &score));
    assert_true(score.per_s == 0);
    assert_true(score.missed > 0);
}

TEST(one_failure_ends_it_for_all)
{
    struct tally tally = {.answer = THREAD_GROUP_DONE, .fail_at = 100};
    struct thread_group group = {THREADS, count, &tally};

    assert_false(thread_group_repeat(&group, INT64_MAX));
    assert_true(atomic_load(&tally.calls) >= 100);
}
