/* SPDX-License-Identifier: MIT */
/* event.h -- waiting for descriptors: sockets of others, and events that another thread of
 * the process raises.
 *
 * An event is a descriptor that is readable from the first raise to the next clear, so
 * that whoever waits for sockets can be woken too.
 *
 * Threads     Any. */
#ifndef DLOCK_OS_EVENT_H
#define DLOCK_OS_EVENT_H

#include <poll.h>
#include <stddef.h>
#include <stdint.h>

/* A new event, not raised, which is closed on exec.  -1: see errno. */
int dlock_event_open(void);
void dlock_event_close(int event_fd); /* -1 is fine */

/* Raise the event, and add `count`, which is above 0, to what a read of 8 bytes answers. */
void dlock_event_raise(int event_fd, uint64_t count);

/* Take the event back, however often it was raised; it need not be raised. */
void dlock_event_clear(int event_fd);

/* Wait until a descriptor is as its `events` say (POLLIN, POLLOUT), or broken, or until
 * `until_ns` (clock.h; a time that is over: only look).  Answers how many have something in
 * `revents`.  0: none, and the wait may have ended early.  A negative fd is passed over. */
int dlock_poll_until(struct pollfd *polled, size_t count, int64_t until_ns);

/* The same for one descriptor: what happened to it, or 0. */
short dlock_poll_one(int fd, short events, int64_t until_ns);

/* The descriptor, which was waited for, is about to be closed.  A descriptor that a fiber of a
 * loop waited for is closed by a fiber of that loop, or after the loop has ended. */
void dlock_poll_forget(int fd);

#endif /* DLOCK_OS_EVENT_H */
