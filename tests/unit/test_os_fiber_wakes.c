/* SPDX-License-Identifier: MIT */
/* test_os_fiber_wakes.c -- bells, conditions and descriptors wake a fiber. */
#include "tests/registered.h"
#include "tests/unit/fibers.h"

enum { RINGS = 400 };

/* ---- bells ---- */

struct rung {
    struct dlock_bell bells[RINGS];
    /* The number, plus 1, of the bell that the fiber waits for, or is about to wait for. */
    atomic_int waiting;
};

static void wait_for_each(struct work *work)
{
    struct rung *rung = work->arg;

    for (int i = 0; i < RINGS; i++) {
        atomic_store(&rung->waiting, i + 1);
        /* Some waits have so short a limit that they end at the same time as the ring. */
        while (!dlock_bell_wait(&rung->bells[i],
                                i % 2 == 0 ? INT64_MAX : dlock_clock_ns() + i % 64 * 200))
            continue;
    }
}

static void *ring_each(void *arg)
{
    struct rung *rung = arg;

    for (int i = 0; i < RINGS; i++) {
        while (atomic_load(&rung->waiting) <= i)
            dlock_thread_yield();
        dlock_bell_ring(&rung->bells[i]);
    }
    return NULL;
}

TEST(a_thread_rings_for_a_fiber)
{
    struct dlock_loop *loop = open_loop();
    struct rung *rung = calloc(1, sizeof(*rung));
    struct dlock_thread ringer;
    struct work work = {0};

    assert_non_null(rung);
    begin(loop, &work, wait_for_each, rung);
    assert_int_equal(0, dlock_thread_start(&ringer, ring_each, rung));
    turn_to_the_end(loop);
    dlock_loop_free(loop); /* at once, while the ringer may still be in its last ring */
    dlock_thread_join(&ringer);
    free(rung);
}

static void ring_each_here(struct work *work)
{
    struct rung *rung = work->arg;

    for (int i = 0; i + 1 < RINGS; i += 2) {
        while (atomic_load(&rung->waiting) <= i)
            dlock_thread_yield();
        dlock_bell_ring_two(&rung->bells[i], &rung->bells[i + 1]);
    }
}

TEST(a_fiber_rings_for_another)
{
    struct dlock_loop *loop = open_loop();
    struct rung *rung = calloc(1, sizeof(*rung));
    struct work works[2] = {{.number = 0}};

    assert_non_null(rung);
    begin(loop, &works[0], wait_for_each, rung);
    begin(loop, &works[1], ring_each_here, rung);
    turn_to_the_end(loop);
    dlock_loop_free(loop);
    free(rung);
}

/* ---- conditions ---- */

struct box {
    struct dlock_mutex mutex;
    struct dlock_condition changed;
    int count; /* the number of elements */
    int taken;
};

static void take_from_box(struct work *work)
{
    struct box *box = work->arg;

    dlock_mutex_lock(&box->mutex);
    while (box->count == 0)
        (void)dlock_condition_wait_until(&box->changed, &box->mutex, in_ms(1 + work->number % 3));
    box->count--;
    box->taken++;
    dlock_mutex_unlock(&box->mutex);
}

static void *fill_box(void *arg)
{
    struct box *box = arg;

    for (int i = 0; i < MANY; i++) {
        dlock_mutex_lock(&box->mutex);
        box->count++;
        dlock_condition_signal(&box->changed);
        dlock_mutex_unlock(&box->mutex);
        dlock_thread_yield();
    }
    return NULL;
}

TEST(a_thread_signals_to_fibers)
{
    struct dlock_loop *loop = open_loop();
    struct box box = {.mutex = DLOCK_MUTEX_INITIALIZER};
    static struct work works[MANY];
    struct dlock_thread filler;

    assert_true(dlock_condition_init(&box.changed));
    for (int i = 0; i < MANY; i++) {
        works[i].number = i;
        begin(loop, &works[i], take_from_box, &box);
    }
    assert_int_equal(0, dlock_thread_start(&filler, fill_box, &box));
    turn_to_the_end(loop);
    dlock_thread_join(&filler);
    assert_int_equal(MANY, box.taken);
    dlock_condition_destroy(&box.changed);
    dlock_loop_free(loop);
}

static void wait_without_end(struct work *work)
{
    struct box *box = work->arg;

    dlock_mutex_lock(&box->mutex);
    while (box->count == 0)
        dlock_condition_wait(&box->changed, &box->mutex);
    dlock_mutex_unlock(&box->mutex);
}

static void open_box(struct work *work)
{
    struct box *box = work->arg;

    dlock_mutex_lock(&box->mutex);
    box->count = 1;
    dlock_condition_broadcast(&box->changed);
    dlock_mutex_unlock(&box->mutex);
}

TEST(a_broadcast_wakes_all)
{
    struct dlock_loop *loop = open_loop();
    struct box box = {.mutex = DLOCK_MUTEX_INITIALIZER};
    struct work works[5] = {{.number = 0}};

    assert_true(dlock_condition_init(&box.changed));
    for (int i = 0; i < 4; i++)
        begin(loop, &works[i], wait_without_end, &box);
    begin(loop, &works[4], open_box, &box);
    turn_to_the_end(loop);
    dlock_condition_destroy(&box.changed);
    dlock_loop_free(loop);
}

/* ---- descriptors ---- */

static void wait_for_event(struct work *work)
{
    int fd = *(int *)work->arg;

    assert_int_equal(0, dlock_poll_one(fd, POLLIN, in_ms(SHORT_MS)));
    tell('w');
    assert_int_equal(POLLIN, dlock_poll_one(fd, POLLIN, INT64_MAX));
    tell('!');
    dlock_event_clear(fd);
}

static void raise_event(struct work *work)
{
    while (strlen(story) < 1)
        dlock_clock_sleep_until(in_ms(1));
    tell('r');
    dlock_event_raise(*(int *)work->arg, 1);
}

/* The second round closes the descriptor and opens another one with the same number. */
TEST(a_fiber_waits_for_a_descriptor)
{
    struct dlock_loop *loop = open_loop();
    struct work works[2] = {{.number = 0}};

    for (int round = 0; round < 2; round++) {
        int fd = dlock_event_open();

        assert_true(fd >= 0);
        story[0] = '\0';
        begin(loop, &works[0], wait_for_event, &fd);
        begin(loop, &works[1], raise_event, &fd);
        turn_to_the_end(loop);
        assert_string_equal("wr!", story);
        dlock_event_close(fd);
    }
    dlock_loop_free(loop);
}

static void wait_for_nothing(struct work *work)
{
    struct pollfd polled[2] = {{.fd = -1, .events = POLLIN},
                               {.fd = *(int *)work->arg, .events = POLLIN}};

    assert_int_equal(1, dlock_poll_until(polled, 2, INT64_MAX));
    assert_true(polled[1].revents & (POLLERR | POLLNVAL));
}

TEST(a_closed_descriptor_is_no_hang)
{
    struct dlock_loop *loop = open_loop();
    int fd = dlock_event_open();
    struct work work = {0};

    assert_true(fd >= 0);
    dlock_event_close(fd);
    begin(loop, &work, wait_for_nothing, &fd);
    turn_to_the_end(loop);
    dlock_loop_free(loop);
}

/* The turns are late: an event that came in time is reported, and not the end of the wait. */
static void wait_for_event_in_time(struct work *work)
{
    assert_int_equal(POLLIN, dlock_poll_one(*(int *)work->arg, POLLIN, in_ms(SHORT_MS)));
}

TEST(a_late_turn_finds_what_has_come)
{
    struct dlock_loop *loop = open_loop();
    int fd = dlock_event_open();
    struct work work = {0};

    assert_true(fd >= 0);
    begin(loop, &work, wait_for_event_in_time, &fd);
    dlock_event_raise(fd, 1);
    dlock_loop_turn(loop, 0);
    dlock_clock_sleep_until(in_ms(SHORT_MS * 2));
    turn_to_the_end(loop);
    dlock_loop_free(loop);
    dlock_event_close(fd);
}
