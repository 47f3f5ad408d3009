/* SPDX-License-Identifier: MIT */
/* loop_watch.c -- the descriptors that fibers wait for.
 *
 * The kernel reports each only once, until a fiber waits for it again.  So the loop's
 * own descriptor is readable only while there is work. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>

#include "base/os/loop_inside.h"

enum { FIRST_ROOM = 64 };

_Static_assert((int)EPOLLIN == POLLIN && (int)EPOLLOUT == POLLOUT && (int)EPOLLERR == POLLERR &&
                   (int)EPOLLHUP == POLLHUP,
               "poll and epoll call events by the same bits");

/* The watch of a descriptor; NULL: no memory. */
static struct dlock_loop_watch *watch_of(struct dlock_loop *loop, int fd)
{
    size_t room = loop->watch_room == 0 ? FIRST_ROOM : loop->watch_room;
    struct dlock_loop_watch *longer;

    if ((size_t)fd < loop->watch_room)
        return &loop->watches[fd];
    while (room <= (size_t)fd)
        room *= 2;
    longer = realloc(loop->watches, room * sizeof(*longer));
    if (longer == NULL)
        return NULL;
    memset(longer + loop->watch_room, 0, (room - loop->watch_room) * sizeof(*longer));
    loop->watches = longer;
    loop->watch_room = room;
    return &loop->watches[fd];
}

/* Ask epoll to report the descriptor.  If the descriptor was closed and opened again,
 * epoll does not have it any more, and it is added anew. */
static bool arm(struct dlock_loop *loop, struct dlock_loop_watch *watch,
                const struct pollfd *polled)
{
    struct epoll_event event = {.events = (uint32_t)(unsigned short)polled->events |
                                          EPOLLONESHOT,
                                .data.fd = polled->fd};
    int rc = -1;

    if (watch->armed == polled->events)
        return true;
    if (watch->is_known)
        rc = epoll_ctl(loop->epoll_fd, EPOLL_CTL_MOD, polled->fd, &event);
    if (rc != 0)
        rc = epoll_ctl(loop->epoll_fd, EPOLL_CTL_ADD, polled->fd, &event);
    if (rc != 0 && errno == EEXIST)
        rc = epoll_ctl(loop->epoll_fd, EPOLL_CTL_MOD, polled->fd, &event);
    watch->is_known = rc == 0;
    watch->armed = rc == 0 ? polled->events : 0;
    return rc == 0;
}

bool dlock_loop_watch_begin(struct dlock_loop_fiber *fiber)
{
    bool is_sound = true;

    fiber->found = 0;
    for (size_t i = 0; i < fiber->polled_count; i++) {
        struct pollfd *polled = &fiber->polled[i];
        struct dlock_loop_watch *watch;

        polled->revents = 0;
        if (polled->fd < 0)
            continue;
        watch = watch_of(fiber->loop, polled->fd);
        if (watch != NULL)
            watch->fiber = fiber;
        if (watch == NULL || !arm(fiber->loop, watch, polled)) {
            polled->revents = POLLERR;
            fiber->found++;
            is_sound = false;
        }
    }
    return is_sound;
}

void dlock_loop_watch_end(struct dlock_loop_fiber *fiber)
{
    for (size_t i = 0; i < fiber->polled_count; i++) {
        int fd = fiber->polled[i].fd;

        if (fd >= 0 && (size_t)fd < fiber->loop->watch_room &&
            fiber->loop->watches[fd].fiber == fiber)
            fiber->loop->watches[fd].fiber = NULL;
    }
    fiber->polled_count = 0;
}

void dlock_loop_watch_tell(struct dlock_loop *loop, int fd, short events)
{
    struct dlock_loop_watch *watch = &loop->watches[fd];
    struct dlock_loop_fiber *fiber = watch->fiber;

    watch->armed = 0;
    if (fiber == NULL)
        return; /* no fiber waits for it any more */
    for (size_t i = 0; i < fiber->polled_count; i++)
        if (fiber->polled[i].fd == fd) {
            fiber->found += fiber->polled[i].revents == 0;
            fiber->polled[i].revents = events;
        }
    dlock_loop_make_ready(fiber);
}

void dlock_loop_watch_forget(struct dlock_loop *loop, int fd)
{
    if (fd >= 0 && (size_t)fd < loop->watch_room)
        loop->watches[fd] = (struct dlock_loop_watch){0};
}
