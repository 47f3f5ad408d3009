/* SPDX-License-Identifier: MIT */
/* event.c -- eventfd() and ppoll().
 *
 * The kernel counts a timeout on CLOCK_MONOTONIC, so a wait is late by the length of a
 * suspend.  Callers have timeouts of seconds. */
#include "base/os/event.h"

#include <sys/eventfd.h>
#include <time.h>
#include <unistd.h>

#include "base/os/clock.h"
#include "base/os/fiber.h"

#define NS_PER_S INT64_C(1000000000)

int dlock_event_open(void)
{
    return eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
}

void dlock_event_close(int event_fd)
{
    if (event_fd < 0)
        return;
    dlock_poll_forget(event_fd);
    (void)close(event_fd);
}

void dlock_event_raise(int event_fd, uint64_t count)
{
    if (write(event_fd, &count, sizeof(count)) < 0)
        return; /* the sum would reach 2^64, so the event is raised */
}

void dlock_event_clear(int event_fd)
{
    uint64_t count;

    if (read(event_fd, &count, sizeof(count)) < 0)
        return; /* it was not raised */
}

int dlock_poll_until(struct pollfd *polled, size_t count, int64_t until_ns)
{
    struct dlock_fiber *fiber = dlock_fiber_here();
    struct timespec left = {0};
    int64_t left_ns = 0;
    int found;

    if (until_ns > 0)
        left_ns = until_ns - dlock_clock_ns();
    if (left_ns > 0 && fiber != NULL)
        return fiber->host->poll(fiber, polled, count, until_ns);
    if (left_ns > 0)
        left = (struct timespec){.tv_sec = (time_t)(left_ns / NS_PER_S),
                                 .tv_nsec = left_ns % NS_PER_S};
    found = ppoll(polled, (nfds_t)count, &left, NULL);
    if (found >= 0)
        return found;
    for (size_t i = 0; i < count; i++)
        polled[i].revents = 0;
    return 0;
}

short dlock_poll_one(int fd, short events, int64_t until_ns)
{
    struct pollfd polled = {.fd = fd, .events = events};

    (void)dlock_poll_until(&polled, 1, until_ns);
    return polled.revents;
}

void dlock_poll_forget(int fd)
{
    struct dlock_fiber *fiber = dlock_fiber_here();

    if (fiber != NULL)
        fiber->host->forget(fiber, fd);
}
