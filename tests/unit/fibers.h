/* SPDX-License-Identifier: MIT */
/* fibers.h -- jobs for the tests of fibers, and a loop that runs them to their ends. */
#ifndef UNIT_FIBERS_H
#define UNIT_FIBERS_H

#include <limits.h>
#include <stdbool.h>
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

static inline int64_t in_ms(int64_t ms)
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

static inline void tell(char what)
{
    size_t len = strlen(story);

    assert_true(len + 1 < sizeof(story));
    story[len] = what;
    story[len + 1] = '\0';
}

static inline void run_work(struct dlock_job *job)
{
    struct work *work = (struct work *)job;

    assert_ptr_equal(job->fiber, dlock_fiber_here());
    work->what(work);
}

static inline void end_work(struct dlock_job *job)
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

static inline void start_work(struct dlock_post *post)
{
    struct start *start = (struct start *)post;

    assert_true(dlock_loop_is_here(start->loop));
    assert_true(dlock_job_start(start->loop, &start->work->job));
    free(start);
}

static inline void begin(struct dlock_loop *loop, struct work *work, void (*what)(struct work *),
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

static inline void turn_to_the_end(struct dlock_loop *loop)
{
    int64_t until_ns = in_ms(LONG_MS);

    while (open_count > 0 && dlock_clock_ns() < until_ns)
        dlock_loop_turn(loop, until_ns);
    assert_int_equal(0, open_count);
}

static inline struct dlock_loop *open_loop(void)
{
    struct dlock_loop *loop = dlock_loop_new();

    assert_non_null(loop);
    open_count = 0;
    story[0] = '\0';
    return loop;
}

#endif /* UNIT_FIBERS_H */
