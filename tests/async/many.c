/* SPDX-License-Identifier: MIT */
/* many.c -- a thousand calls at once: they need no thread each, and every one of them is
 * answered. */
#include <dirent.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/async/rig.h"

/* TSan keeps a history of a megabyte for each fiber, as for each thread. */
#ifdef __SANITIZE_THREAD__
enum { MANY = 200 };
#else
enum { MANY = 1000 };
#endif
enum { NAMES = 50, ASKERS = 4 };

static int count_threads(void)
{
    DIR *tasks = opendir("/proc/self/task");
    int count = 0;

    assert_non_null(tasks);
    for (const struct dirent *at; (at = readdir(tasks)) != NULL;)
        count += at->d_name[0] != '.';
    closedir(tasks);
    return count;
}

static char names[NAMES][DLOCK_NAME_MAX + 1];
static struct async_answer held[NAMES];
static atomic_int granted_count, inside[NAMES], twice_count, released_count, bad_count;

static void note_released(dlock_status st, dlock_lease *lease, void *arg)
{
    (void)lease;
    (void)arg;
    if (st != DLOCK_OK)
        atomic_fetch_add(&bad_count, 1);
    atomic_fetch_add(&released_count, 1);
}

static void note_granted(dlock_status st, dlock_lease *lease, void *arg)
{
    int which = (int)(intptr_t)arg;

    if (st != DLOCK_OK) {
        atomic_fetch_add(&bad_count, 1);
        return;
    }
    if (atomic_fetch_add(&inside[which], 1) != 0)
        atomic_fetch_add(&twice_count, 1);
    atomic_fetch_add(&granted_count, 1);
    atomic_fetch_sub(&inside[which], 1);
    if (dlock_async_release(async_it, lease, note_released, NULL) != DLOCK_OK)
        atomic_fetch_add(&bad_count, 1);
}

static void hold_all(const char *variant)
{
    async_opts.variant = variant;
    async_open();
    atomic_store(&granted_count, 0);
    atomic_store(&released_count, 0);
    atomic_store(&twice_count, 0);
    atomic_store(&bad_count, 0);
    for (int i = 0; i < NAMES; i++) {
        snprintf(names[i], sizeof(names[i]), "%s:%d", rig_name(), i);
        assert_status(OK, async_acquire(names[i], 0, &held[i]));
    }
}

static void ask_for(int which)
{
    dlock_request request = {.wait_ms = -1};

    if (dlock_async_acquire(async_it, names[which], &request, NULL, note_granted,
                            (void *)(intptr_t)which, NULL) != DLOCK_OK)
        atomic_fetch_add(&bad_count, 1);
}

static void release_all(int expected)
{
    for (int i = 0; i < NAMES; i++)
        assert_status(OK, async_release(&held[i].lease));
    assert_driven(atomic_load(&released_count) == expected);
    assert_int_equal(expected, atomic_load(&granted_count));
    assert_int_equal(0, atomic_load(&twice_count));
    assert_int_equal(0, atomic_load(&bad_count));
}

/* The threads that the system needs anyway are counted before. One of them, the thread that
 * listens, starts with the first waiter. */
static void a_thousand_waits_take_no_thread_each(void)
{
    dlock_lease lease;
    int thread_count;

    hold_all("reentrant");
    assert_status(TIMEOUT, dlock_acquire(async_sys, names[0], 20, &lease));
    thread_count = count_threads();
    for (int i = 0; i < MANY; i++)
        ask_for(i % NAMES);
    for (int i = 0; i < 20; i++)
        async_drive();
    assert_int_equal(MANY, dlock_async_count(async_it));
    assert_int_equal(0, atomic_load(&granted_count));
    assert_true(count_threads() <= thread_count + 1);
    release_all(MANY);
    assert_true(count_threads() <= thread_count + 1);
}

static void fair_waiters_are_all_served(void)
{
    hold_all("fair");
    for (int i = 0; i < MANY / 4; i++)
        ask_for(i % 5);
    release_all(MANY / 4);
}

static void waiters_of_local_are_all_served(void)
{
    hold_all("local");
    for (int i = 0; i < MANY; i++)
        ask_for(i % NAMES);
    release_all(MANY);
}

static void waiters_are_served_by_handing_over(void)
{
    async_opts.handover = 16;
    hold_all("fair");
    for (int i = 0; i < MANY / 4; i++)
        ask_for(i % 3);
    release_all(MANY / 4);
}

static void *ask_for_some(void *arg)
{
    (void)arg;
    for (int i = 0; i < MANY / ASKERS; i++)
        ask_for(i % NAMES);
    return NULL;
}

static void calls_are_made_by_many_threads(void)
{
    pthread_t askers[ASKERS];

    hold_all("lua");
    for (int i = 0; i < ASKERS; i++)
        assert_int_equal(0, pthread_create(&askers[i], NULL, ask_for_some, NULL));
    for (int i = 0; i < ASKERS; i++) {
        async_drive();
        assert_int_equal(0, pthread_join(askers[i], NULL));
    }
    release_all(MANY / ASKERS * ASKERS);
}

struct async_test async_many_tests[] = {
    ASYNC_TEST(a_thousand_waits_take_no_thread_each),
    ASYNC_TEST(fair_waiters_are_all_served),
    ASYNC_TEST(waiters_of_local_are_all_served),
    ASYNC_TEST(waiters_are_served_by_handing_over),
    ASYNC_TEST(calls_are_made_by_many_threads),
    {.name = NULL},
};
