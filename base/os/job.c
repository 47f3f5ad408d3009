/* SPDX-License-Identifier: MIT */
/* job.c -- the fibers of a loop: sleeping, waking, and running jobs.
 *
 * A fiber whose job has ended waits for the next job, with its stack; IDLE_MAX of them are
 * kept. */
#include "base/os/job.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/os/clock.h"
#include "base/os/loop_inside.h"
#include "base/os/stack.h"

enum { IDLE_MAX = 1024 };

_Thread_local struct dlock_loop *dlock_loop_here;

static struct dlock_loop_fiber *own(struct dlock_fiber *fiber)
{
    return (struct dlock_loop_fiber *)fiber;
}

/* Leave the running fiber.  It must hold no mutex, because no other code could unlock
 * it. */
static void leave(struct dlock_loop_fiber *fiber)
{
    assert(dlock_mutex_count_held() == 0);
    dlock_stack_switch(fiber->stack, fiber->loop->own);
}

/* Sleep until the fiber is made ready; at `until_ns` the loop does that. */
static void rest(struct dlock_loop_fiber *fiber, int64_t until_ns)
{
    fiber->is_asleep = true;
    dlock_loop_due_at(fiber, until_ns);
    leave(fiber);
    fiber->due_ns = INT64_MAX;
}

static bool host_sleep(struct dlock_fiber *self, int64_t until_ns)
{
    struct dlock_loop_fiber *fiber = own(self);
    bool is_hurried = self->is_hurried && self->may_hurry;
    bool is_woken;

    if (!fiber->is_woken && !is_hurried &&
        (until_ns == INT64_MAX || until_ns > dlock_clock_ns()))
        rest(fiber, until_ns);
    is_woken = fiber->is_woken;
    fiber->is_woken = false;
    return is_woken;
}

static void host_yield(struct dlock_fiber *self)
{
    struct dlock_loop_fiber *fiber = own(self);

    fiber->is_asleep = true;
    dlock_loop_make_ready(fiber);
    leave(fiber);
}

static int host_poll(struct dlock_fiber *self, struct pollfd *polled, size_t count,
                     int64_t until_ns)
{
    struct dlock_loop_fiber *fiber = own(self);

    fiber->polled = polled;
    fiber->polled_count = count;
    if (dlock_loop_watch_begin(fiber))
        rest(fiber, until_ns);
    dlock_loop_watch_end(fiber);
    return fiber->found;
}

static void host_forget(struct dlock_fiber *self, int fd)
{
    dlock_loop_watch_forget(own(self)->loop, fd);
}

void dlock_loop_wake_here(struct dlock_loop_fiber *fiber)
{
    fiber->is_woken = true;
    dlock_loop_make_ready(fiber);
}

static void host_wake(struct dlock_fiber *self)
{
    struct dlock_loop_fiber *fiber = own(self);
    struct dlock_loop *loop = fiber->loop;

    if (dlock_loop_here == loop) {
        dlock_loop_wake_here(fiber);
        return;
    }
    /* When the fiber is in the list and the mutex is unlocked, the fiber may go on and
     * the loop may be freed.  So everything is done under the mutex. */
    dlock_mutex_lock(&loop->mutex);
    fiber->next_told = NULL;
    if (loop->told == NULL)
        loop->told = fiber;
    else
        loop->last_told->next_told = fiber;
    loop->last_told = fiber;
    dlock_loop_tell(loop);
    dlock_mutex_unlock(&loop->mutex);
}

static const struct dlock_fiber_host HOST = {
    .sleep = host_sleep,
    .wake = host_wake,
    .yield = host_yield,
    .poll = host_poll,
    .forget = host_forget,
};

static void run_jobs(void *arg)
{
    struct dlock_loop_fiber *fiber = arg;

    for (;;) {
        fiber->job->run(fiber->job);
        fiber->is_over = true;
        leave(fiber);
    }
}

static struct dlock_loop_fiber *make_fiber(struct dlock_loop *loop)
{
    struct dlock_loop_fiber *fiber;

    if (!dlock_loop_due_make_room(loop))
        return NULL;
    fiber = calloc(1, sizeof(*fiber));
    if (fiber == NULL)
        return NULL;
    fiber->fiber.host = &HOST;
    fiber->loop = loop;
    fiber->due_ns = INT64_MAX;
    fiber->stack = dlock_stack_new(run_jobs, fiber);
    if (fiber->stack == NULL) {
        free(fiber);
        return NULL;
    }
    loop->fiber_count++;
    return fiber;
}

void dlock_loop_free_fiber(struct dlock_loop_fiber *fiber)
{
    dlock_loop_due_forget(fiber);
    dlock_stack_free(fiber->stack);
    fiber->loop->fiber_count--;
    free(fiber);
}

bool dlock_job_start(struct dlock_loop *loop, struct dlock_job *job)
{
    struct dlock_loop_fiber *fiber = loop->idle;

    assert(dlock_loop_here == loop);
    if (fiber != NULL) {
        loop->idle = fiber->next;
        loop->idle_count--;
    } else {
        fiber = make_fiber(loop);
        if (fiber == NULL)
            return false;
    }
    fiber->job = job;
    fiber->is_over = fiber->is_woken = false;
    fiber->fiber.local = job->local;
    fiber->fiber.is_inner = job->is_inner;
    memset(fiber->fiber.tallies, 0, sizeof(fiber->fiber.tallies));
    fiber->fiber.is_hurried = fiber->fiber.may_hurry = false;
    job->fiber = &fiber->fiber;
    fiber->is_asleep = true;
    dlock_loop_make_ready(fiber);
    return true;
}

void dlock_job_hurry(struct dlock_job *job)
{
    job->fiber->is_hurried = true;
    if (job->fiber->may_hurry)
        dlock_loop_make_ready(own(job->fiber));
}

void dlock_loop_run(struct dlock_loop *loop, struct dlock_loop_fiber *fiber)
{
    struct dlock_job *job = fiber->job;

    dlock_fiber_current = &fiber->fiber;
    dlock_stack_switch(loop->own, fiber->stack);
    dlock_fiber_current = NULL;
    if (!fiber->is_over)
        return;
    fiber->job = NULL;
    if (loop->idle_count < IDLE_MAX) {
        fiber->next = loop->idle;
        loop->idle = fiber;
        loop->idle_count++;
    } else {
        dlock_loop_free_fiber(fiber);
    }
    job->fiber = NULL;
    job->ended(job);
}
