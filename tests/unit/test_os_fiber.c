/* SPDX-License-Identifier: MIT */
/* test_os_fiber.c -- the fibers of a loop: turns, sleeps, and sleeps that are ended early;
 * bells, conditions and descriptors wake a fiber. */
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/os/bell.h"
#include "base/os/clock.h"
#include "base/os/condition.h"
#include "base/os/event.h"
#include "base/os/loop.h"
#include "base/os/mutex.h"
#include "base/os/thread.h"
#include "tests/registered.h"

enum { SHORT_MS = 5, LONG_MS = 60000, MANY = 300 };

static int64_t in_ms(int64_t ms)
{
    return dlock_clock_after(dlock_clock_ns(), ms);
}

/* ---- a job of a test ---- */

struct work {
    struct dlock_job job; /* the first */
    void (*what)(struct work *work);
    void *arg;
    int number;
    int done_count; /* how often this job has ended */
};

static int open_count; /* jobs under way */
static char story[64]; /* a character for each event of the test */

static void tell(char what)
{
    size_t len = strlen(story);

    assert_true(len + 1 < sizeof(story));
    story[len] = what;
    story[len + 1] = '\0';
}

static void run_work(struct dlock_job *job)
{
    struct work *work = (struct work *)job;

    assert_ptr_equal(job->fiber, dlock_fiber_here());
    work->what(work);
}

static void end_work(struct dlock_job *job)
{
    struct work *work = (struct work *)job;

    assert_null(dlock_fiber_here());
    work->done_count++;
    open_count--;
}

/* A job is started in a turn of the loop, by a post. */
struct start {
    struct dlock_post post; /* the first */
    struct dlock_loop *loop;
    struct work *work;
};

static void start_work(struct dlock_post *post)
{
    struct start *start = (struct start *)post;

    assert_true(dlock_loop_is_here(start->loop));
    assert_true(dlock_job_start(start->loop, &start->work->job));
    free(start);
}

static void begin(struct dlock_loop *loop, struct work *work, void (*what)(struct work *),
                  void *arg)
{
    struct start *start = calloc(1, sizeof(*start));

    assert_non_null(start);
    *work = (struct work){.job = {.run = run_work, .ended = end_work, .local = arg},
                          .what = what, .arg = arg, .number = work->number};
    *start = (struct start){.post = {.run = start_work}, .loop = loop, .work = work};
    open_count++;
    dlock_loop_post(loop, &start->post);
}

static void turn_to_the_end(struct dlock_loop *loop)
{
    int64_t until_ns = in_ms(LONG_MS);

    while (open_count > 0 && dlock_clock_ns() < until_ns)
        dlock_loop_turn(loop, until_ns);
    assert_int_equal(0, open_count);
}

static struct dlock_loop *open_loop(void)
{
    struct dlock_loop *loop = dlock_loop_new();

    assert_non_null(loop);
    open_count = 0;
    story[0] = '\0';
    return loop;
}

enum { MORE_THAN_IDLE = 1100 };

/* ---- turns ---- */

static void tell_thrice(struct work *work)
{
    for (int i = 0; i < 3; i++) {
        tell((char)('a' + work->number));
        dlock_thread_yield();
    }
}

TEST(fibers_take_turns)
{
    struct dlock_loop *loop = open_loop();
    struct work works[3] = {{.number = 0}, {.number = 1}, {.number = 2}};

    for (int i = 0; i < 3; i++)
        begin(loop, &works[i], tell_thrice, NULL);
    turn_to_the_end(loop);
    assert_string_equal("abcabcabc", story);
    for (int i = 0; i < 3; i++)
        assert_int_equal(1, works[i].done_count);
    dlock_loop_free(loop);
}

static void keep_floats(struct work *work)
{
    volatile double mine = work->number + 0.5;
    char text[2048];

    memset(text, work->number, sizeof(text));
    for (int i = 0; i < 3; i++) {
        dlock_thread_yield();
        assert_true(mine == work->number + 0.5);
        assert_int_equal((unsigned char)work->number, (unsigned char)text[i * 700]);
        assert_ptr_equal(work->arg, dlock_fiber_here()->local);
        dlock_fiber_here()->tallies[0]++;
    }
    assert_int_equal(3, dlock_fiber_here()->tallies[0]);
}

TEST(each_keeps_what_is_its_own)
{
    struct dlock_loop *loop = open_loop();
    static struct work works[MANY];

    for (int round = 0; round < 2; round++) { /* the second round uses the fibers of the first */
        for (int i = 0; i < MANY; i++) {
            works[i].number = i;
            begin(loop, &works[i], keep_floats, &works[i]);
        }
        turn_to_the_end(loop);
    }
    dlock_loop_free(loop);
}

static void yield_once(struct work *work)
{
    (void)work;
    dlock_thread_yield();
}

TEST(more_fibers_than_are_kept_come_and_go)
{
    struct dlock_loop *loop = open_loop();
    static struct work works[MORE_THAN_IDLE];

    for (int i = 0; i < MORE_THAN_IDLE; i++)
        begin(loop, &works[i], yield_once, NULL);
    turn_to_the_end(loop);
    dlock_loop_free(loop);
}

/* ---- sleeping ---- */

static void sleep_as_long_as_its_number(struct work *work)
{
    dlock_clock_sleep_until(in_ms(work->number));
    tell((char)('0' + work->number / 10));
}

TEST(sleeps_end_in_the_order_of_their_ends)
{
    struct dlock_loop *loop = open_loop();
    struct work works[3] = {{.number = 90}, {.number = 10}, {.number = 50}};
    int64_t begun_ns = dlock_clock_ns();

    for (int i = 0; i < 3; i++)
        begin(loop, &works[i], sleep_as_long_as_its_number, NULL);
    turn_to_the_end(loop);
    assert_string_equal("159", story);
    assert_true(dlock_clock_ns() - begun_ns >= 90 * DLOCK_NS_PER_MS);
    dlock_loop_free(loop);
}

static void sleep_long_then_short(struct work *work)
{
    struct dlock_bell bell = {0};

    dlock_bell_ring(&bell);
    assert_true(dlock_bell_wait(&bell, INT64_MAX));
    bell = (struct dlock_bell){0};
    assert_false(dlock_bell_wait(&bell, in_ms(SHORT_MS * 4)));
    assert_false(dlock_bell_wait(&bell, in_ms(SHORT_MS)));
    assert_false(dlock_bell_wait(&bell, INT64_MIN));
    (void)work;
}

TEST(a_bell_that_nobody_rings_ends_by_its_time)
{
    struct dlock_loop *loop = open_loop();
    struct work work = {0};

    begin(loop, &work, sleep_long_then_short, NULL);
    turn_to_the_end(loop);
    dlock_loop_free(loop);
}

/* A loop inside of another loop: its descriptor shows that a sleep is over. */
TEST(the_descriptor_tells_of_the_end_of_a_sleep)
{
    struct dlock_loop *loop = open_loop();
    struct work work = {.number = 20};

    assert_int_equal(0, dlock_poll_one(dlock_loop_fd(loop), POLLIN, 0));
    begin(loop, &work, sleep_as_long_as_its_number, NULL);
    assert_int_equal(POLLIN, dlock_poll_one(dlock_loop_fd(loop), POLLIN, in_ms(LONG_MS)));
    for (int i = 0; i < 20 && open_count > 0; i++) {
        assert_int_equal(POLLIN, dlock_poll_one(dlock_loop_fd(loop), POLLIN, in_ms(LONG_MS)));
        dlock_loop_turn(loop, 0);
    }
    assert_int_equal(1, work.done_count);
    assert_int_equal(0, dlock_poll_one(dlock_loop_fd(loop), POLLIN, 0));
    dlock_loop_free(loop);
}

/* ---- hurries ---- */

static void sleep_in_haste(struct work *work)
{
    struct dlock_bell bell = {0};

    assert_false(dlock_fiber_is_hurried());
    dlock_fiber_let_hurry(true);
    dlock_clock_sleep_until(INT64_MAX);
    assert_false(dlock_bell_wait(&bell, INT64_MAX));
    dlock_fiber_let_hurry(false);
    assert_true(dlock_fiber_is_hurried());
    dlock_bell_ring(&bell);
    assert_true(dlock_bell_wait(&bell, INT64_MAX));
    (void)work;
}

static void sleep_in_peace(struct work *work)
{
    dlock_clock_sleep_until(in_ms(SHORT_MS * 4));
    assert_true(dlock_fiber_is_hurried());
    tell('p');
    (void)work;
}

static void hurry_both(struct work *work)
{
    struct work *works = work->arg;

    dlock_job_hurry(&works[0].job);
    dlock_job_hurry(&works[1].job);
    dlock_thread_yield();
    dlock_thread_yield();
    assert_string_equal("", story);
    assert_int_equal(1, works[0].done_count);
    assert_int_equal(0, works[1].done_count);
}

TEST(a_hurry_ends_only_sleeps_that_allow_it)
{
    struct dlock_loop *loop = open_loop();
    struct work works[3] = {{.number = 0}};

    begin(loop, &works[0], sleep_in_haste, NULL);
    begin(loop, &works[1], sleep_in_peace, NULL);
    begin(loop, &works[2], hurry_both, works);
    turn_to_the_end(loop);
    assert_string_equal("p", story);
    dlock_loop_free(loop);
}

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
