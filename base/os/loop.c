/* SPDX-License-Identifier: MIT */
/* loop.c -- runs many fibers in one thread, by epoll.
 *
 * Other threads put wakes and posts into lists under the mutex, and raise the loop's
 * event unless the loop will check the lists anyway. */
#include "base/os/loop.h"

#include <assert.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/timerfd.h>
#include <unistd.h>

#include "base/os/clock.h"
#include "base/os/event.h"
#include "base/os/loop_inside.h"
#include "base/os/stack.h"

enum {
    EVENTS_AT_ONCE = 64,
    PASSES_MAX = 8,  /* of a turn */
    RUNS_MAX = 4096, /* runs of fibers in one pass */
};

#define NS_PER_S INT64_C(1000000000)

/* ---- a turn ---- */

/* Handle the wakes and posts of other threads. */
static void take_news(struct dlock_loop *loop)
{
    struct dlock_loop_fiber *told;
    struct dlock_post *posts;

    dlock_mutex_lock(&loop->mutex);
    loop->is_awake = true;
    told = loop->told;
    posts = loop->posts;
    loop->told = NULL;
    loop->posts = NULL;
    dlock_mutex_unlock(&loop->mutex);
    while (told != NULL) {
        struct dlock_loop_fiber *next = told->next_told;

        dlock_loop_wake_here(told);
        told = next;
    }
    while (posts != NULL) {
        struct dlock_post *next = posts->next;

        posts->run(posts);
        posts = next;
    }
}

/* Make other threads raise the event from now on.  False: there are wakes or posts, or
 * a fiber is ready. */
static bool prepare_sleep(struct dlock_loop *loop)
{
    bool may_sleep;

    dlock_mutex_lock(&loop->mutex);
    may_sleep = loop->told == NULL && loop->posts == NULL && loop->ready == NULL;
    loop->is_awake = !may_sleep;
    dlock_mutex_unlock(&loop->mutex);
    return may_sleep;
}

static void take_event(struct dlock_loop *loop, const struct epoll_event *event)
{
    if (event->data.fd == loop->event_fd) {
        dlock_mutex_lock(&loop->mutex);
        dlock_event_clear(loop->event_fd);
        loop->is_raised = false;
        dlock_mutex_unlock(&loop->mutex);
    } else if (event->data.fd == loop->timer_fd) {
        dlock_event_clear(loop->timer_fd);
        loop->timer_ns = INT64_MAX;
    } else {
        dlock_loop_watch_tell(loop, event->data.fd, (short)event->events);
    }
}

/* Sleep until a descriptor, the event or the timer is ready, at most until `until_ns`,
 * and handle it.  Returns whether a fiber was made ready by a descriptor. */
static bool wait_events(struct dlock_loop *loop, int64_t until_ns)
{
    struct epoll_event events[EVENTS_AT_ONCE];
    int timeout_ms = until_ns == INT64_MAX ? -1
                     : until_ns <= 0       ? 0
                                           : dlock_clock_poll_ms(until_ns);
    int count = epoll_wait(loop->epoll_fd, events, EVENTS_AT_ONCE, timeout_ms);
    bool is_any = false;

    for (int i = 0; i < count; i++) {
        int fd = events[i].data.fd;

        is_any = is_any || (fd != loop->event_fd && fd != loop->timer_fd);
        take_event(loop, &events[i]);
    }
    return is_any;
}

static void run_ready(struct dlock_loop *loop)
{
    for (int i = 0; i < RUNS_MAX && loop->ready != NULL; i++) {
        struct dlock_loop_fiber *fiber = loop->ready;

        loop->ready = fiber->next;
        dlock_loop_run(loop, fiber);
    }
}

/* Set the timer to the end of the next sleep. */
static void set_timer(struct dlock_loop *loop)
{
    int64_t at_ns = dlock_loop_due_next_ns(loop);
    struct itimerspec spec = {0};

    if (at_ns >= loop->timer_ns)
        return;
    loop->timer_ns = at_ns;
    if (at_ns <= 0)
        at_ns = 1; /* 0 would set no timer */
    spec.it_value = (struct timespec){.tv_sec = (time_t)(at_ns / NS_PER_S),
                                      .tv_nsec = at_ns % NS_PER_S};
    (void)timerfd_settime(loop->timer_fd, TFD_TIMER_ABSTIME, &spec, NULL);
}

/* Do one pass: handle what is ready, and run fibers.  Sleeps whose time has come end
 * only if nothing else has happened, or in the last pass.  Returns whether to make
 * another pass at once. */
static bool pass(struct dlock_loop *loop, int64_t until_ns, bool is_last)
{
    bool was_told = wait_events(loop, until_ns > 0 && prepare_sleep(loop) ? until_ns : 0);
    bool is_any;

    take_news(loop);
    if ((!was_told && loop->ready == NULL) || is_last)
        dlock_loop_due_end(loop, dlock_clock_ns());
    is_any = loop->ready != NULL;
    run_ready(loop);
    return loop->ready != NULL ||
           (is_any && dlock_loop_due_next_ns(loop) <= dlock_clock_ns());
}

void dlock_loop_turn(struct dlock_loop *loop, int64_t until_ns)
{
    bool goes_on = true;

    assert(dlock_loop_here == NULL && dlock_fiber_here() == NULL);
    dlock_loop_here = loop;
    take_news(loop);
    for (int count = 1; count <= PASSES_MAX && goes_on; count++) {
        goes_on = pass(loop, until_ns, count == PASSES_MAX);
        until_ns = 0; /* only the first pass sleeps */
    }
    set_timer(loop);
    if (!prepare_sleep(loop)) {
        dlock_mutex_lock(&loop->mutex);
        loop->is_awake = false;
        dlock_loop_tell(loop);
        dlock_mutex_unlock(&loop->mutex);
    }
    dlock_loop_here = NULL;
}

bool dlock_loop_is_here(const struct dlock_loop *loop)
{
    return dlock_loop_here == loop;
}

void dlock_loop_post(struct dlock_loop *loop, struct dlock_post *post)
{
    if (dlock_loop_here == loop) {
        post->run(post);
        return;
    }
    post->next = NULL;
    dlock_mutex_lock(&loop->mutex);
    if (loop->posts == NULL)
        loop->posts = post;
    else
        loop->last_post->next = post;
    loop->last_post = post;
    dlock_loop_tell(loop);
    dlock_mutex_unlock(&loop->mutex);
}

/* ---- life ---- */

static bool watch_own(struct dlock_loop *loop, int fd)
{
    struct epoll_event event = {.events = EPOLLIN, .data.fd = fd};

    return fd >= 0 && epoll_ctl(loop->epoll_fd, EPOLL_CTL_ADD, fd, &event) == 0;
}

struct dlock_loop *dlock_loop_new(void)
{
    struct dlock_loop *loop = calloc(1, sizeof(*loop));

    if (loop == NULL)
        return NULL;
    dlock_mutex_init(&loop->mutex);
    loop->timer_ns = INT64_MAX;
    loop->own = dlock_stack_of_thread();
    loop->epoll_fd = epoll_create1(EPOLL_CLOEXEC);
    loop->event_fd = dlock_event_open();
    loop->timer_fd = timerfd_create(DLOCK_CLOCK_ID, TFD_NONBLOCK | TFD_CLOEXEC);
    if (loop->own != NULL && loop->epoll_fd >= 0 && watch_own(loop, loop->event_fd) &&
        watch_own(loop, loop->timer_fd))
        return loop;
    dlock_loop_free(loop);
    return NULL;
}

void dlock_loop_free(struct dlock_loop *loop)
{
    if (loop == NULL)
        return;
    while (loop->idle != NULL) {
        struct dlock_loop_fiber *next = loop->idle->next;

        dlock_loop_free_fiber(loop->idle);
        loop->idle = next;
    }
    assert(loop->fiber_count == 0 && loop->posts == NULL);
    /* The thread that left the last wake or post may still hold the mutex. */
    dlock_mutex_lock(&loop->mutex);
    dlock_mutex_unlock(&loop->mutex);
    dlock_event_close(loop->timer_fd);
    dlock_event_close(loop->event_fd);
    dlock_event_close(loop->epoll_fd);
    dlock_mutex_destroy(&loop->mutex);
    dlock_stack_free(loop->own);
    free(loop->watches);
    free(loop->due);
    free(loop);
}

int dlock_loop_fd(const struct dlock_loop *loop)
{
    return loop->epoll_fd;
}
