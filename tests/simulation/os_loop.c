/* SPDX-License-Identifier: MIT */
/* os_loop.c -- the kernel's part of base/os/loop.c: epoll and timers, which the linker replaces by
 * the functions of this file (--wrap). The loop, its fibers and their stacks are the library's own.
 *
 * Descriptors are numbers: pollers from FIRST_POLLER on, events and timers from OS_FIRST_EVENT on,
 * connections from OS_FIRST_WIRE on. */
#include <errno.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/timerfd.h>

#include "base/os/event.h"
#include "base/os/stack.h"
#include "tests/simulation/network_inside.h"
#include "tests/simulation/os.h"

enum { POLLERS_MAX = 64, FIRST_POLLER = 900, WATCHED_MAX = 64, TIMERS_MAX = 64 };

int __wrap_epoll_create1(int flags);
int __wrap_epoll_ctl(int epoll_fd, int what, int fd, struct epoll_event *event);
int __wrap_epoll_wait(int epoll_fd, struct epoll_event *events, int most, int timeout_ms);
int __wrap_timerfd_create(int clock, int flags);
int __wrap_timerfd_settime(int fd, int flags, const struct itimerspec *to,
                           struct itimerspec *before);

static struct poller {
    struct looked_at {
        struct epoll_event event;
        bool is_armed;
    } watched[WATCHED_MAX];
    size_t count;
    struct task *sleeper;
} pollers[POLLERS_MAX];
static int poller_count;

static struct timer {
    int fd;
    struct event end;
} timers[TIMERS_MAX];
static int timer_count;

/* ---- descriptors ---- */

/* The epoll events that are true of the descriptor now. */
static uint32_t state_of(int fd)
{
    if (fd >= OS_FIRST_WIRE)
        return network_events(fd - OS_FIRST_WIRE);
    return os_event_is_raised(fd) ? EPOLLIN : 0;
}

void os_descriptor_changed(int fd)
{
    for (int i = 0; i < poller_count; i++)
        for (size_t j = 0; j < pollers[i].count; j++)
            if (pollers[i].watched[j].event.data.fd == fd)
                task_wake(pollers[i].sleeper);
}

/* ---- epoll ---- */

int __wrap_epoll_create1(int flags)
{
    (void)flags;
    if (poller_count == POLLERS_MAX)
        return -1;
    return FIRST_POLLER + poller_count++;
}

static struct looked_at *find(struct poller *poller, int fd)
{
    for (size_t i = 0; i < poller->count; i++)
        if (poller->watched[i].event.data.fd == fd)
            return &poller->watched[i];
    return NULL;
}

/* Remove closed descriptors, as the kernel does. */
static struct looked_at *make_room(struct poller *poller)
{
    for (size_t i = 0; i < poller->count; i++) {
        int fd = poller->watched[i].event.data.fd;

        if (fd >= OS_FIRST_WIRE && network_is_closed(fd - OS_FIRST_WIRE))
            return &poller->watched[i];
    }
    if (poller->count == WATCHED_MAX)
        world_condemn(NOT_KNOWN, "a loop watches more descriptors than there is room for");
    return &poller->watched[poller->count < WATCHED_MAX ? poller->count++ : 0];
}

int __wrap_epoll_ctl(int epoll_fd, int what, int fd, struct epoll_event *event)
{
    struct poller *poller = &pollers[epoll_fd - FIRST_POLLER];
    struct looked_at *watched = find(poller, fd);

    if (what == EPOLL_CTL_ADD ? watched != NULL : watched == NULL) {
        errno = what == EPOLL_CTL_ADD ? EEXIST : ENOENT;
        return -1;
    }
    if (watched == NULL)
        watched = make_room(poller);
    *watched = (struct looked_at){*event, true};
    return 0;
}

static int collect(struct poller *poller, struct epoll_event *events, int most)
{
    int count = 0;

    for (size_t i = 0; i < poller->count && count < most; i++) {
        struct looked_at *watched = &poller->watched[i];
        uint32_t wanted = watched->event.events | EPOLLERR | EPOLLHUP;
        uint32_t state = watched->is_armed ? state_of(watched->event.data.fd) & wanted : 0;

        if (state == 0)
            continue;
        events[count] = watched->event;
        events[count++].events = state;
        watched->is_armed = !(watched->event.events & EPOLLONESHOT);
    }
    return count;
}

int __wrap_epoll_wait(int epoll_fd, struct epoll_event *events, int most, int timeout_ms)
{
    struct poller *poller = &pollers[epoll_fd - FIRST_POLLER];
    int64_t until_ns = timeout_ms < 0 ? INT64_MAX : world.now_ns + timeout_ms * MS;
    int count;

    task_may_stall();
    count = collect(poller, events, most);
    while (count == 0 && world.now_ns < until_ns) {
        poller->sleeper = task_here;
        (void)task_sleep(until_ns);
        poller->sleeper = NULL;
        count = collect(poller, events, most);
    }
    return count;
}

/* ---- timers ---- */

static void end_timer(void *arg)
{
    const struct timer *timer = arg;

    if (!os_event_is_raised(timer->fd))
        dlock_event_raise(timer->fd, 1);
}

int __wrap_timerfd_create(int clock, int flags)
{
    struct timer *timer = &timers[timer_count];

    (void)clock;
    (void)flags;
    if (timer_count == TIMERS_MAX)
        return -1;
    timer->fd = dlock_event_open();
    timer->end = (struct event){.run = end_timer, .arg = timer};
    timer_count++;
    return timer->fd;
}

int __wrap_timerfd_settime(int fd, int flags, const struct itimerspec *to,
                           struct itimerspec *before)
{
    int64_t at_ns = to->it_value.tv_sec * SECOND + to->it_value.tv_nsec;

    (void)flags;
    (void)before;
    for (int i = 0; i < timer_count; i++)
        if (timers[i].fd == fd)
            event_plan(&timers[i].end, site_world_ns(task_here->site, at_ns));
    return 0;
}

/* ---- stacks ---- */

void __real_dlock_stack_switch(struct dlock_stack *from, struct dlock_stack *to);
void __wrap_dlock_stack_switch(struct dlock_stack *from, struct dlock_stack *to);

void __wrap_dlock_stack_switch(struct dlock_stack *from, struct dlock_stack *to)
{
    task_note_switch(from, to);
    __real_dlock_stack_switch(from, to);
}
