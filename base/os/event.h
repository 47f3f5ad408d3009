/* SPDX-License-Identifier: MIT */
/* event.h -- waiting for descriptors, and events that a thread raises to wake a thread
 * that waits for descriptors.
 *
 * An event is a descriptor that is readable from the first raise to the next clear.  So
 * a thread that waits for sockets can wait for an event at the same time.
 *
 * Threads     Any. */
#ifndef DLOCK_OS_EVENT_H
#define DLOCK_OS_EVENT_H

#include <poll.h>
#include <stddef.h>
#include <stdint.h>

/* Make an event that is not raised, and is closed on exec. -1: failed, see errno. */
int dlock_event_open(void);
void dlock_event_close(int event_fd); /* -1 is fine */

/* Raise the event, and add `count`, which is above 0, to the number that a read of 8
 * bytes returns. */
void dlock_event_raise(int event_fd, uint64_t count);

/* Make the event not raised, however often it was raised. */
void dlock_event_clear(int event_fd);

/* Wait until a descriptor is ready for its `events` (POLLIN, POLLOUT) or broken, or
 * until `until_ns` (clock.h; an instant in the past: do not sleep).  Returns the number
 * of descriptors with something in `revents`. 0: none; the wait may have ended early.
 * A negative fd is ignored. */
int dlock_poll_until(struct pollfd *polled, size_t count, int64_t until_ns);

/* The same for one descriptor.  Returns its `revents`, or 0. */
short dlock_poll_one(int fd, short events, int64_t until_ns);

/* To be called before a descriptor that was waited for is closed.  If a fiber of a loop
 * has waited for it, a fiber of the same loop must close it, or it is closed after the
 * loop has ended. */
void dlock_poll_forget(int fd);

#endif /* DLOCK_OS_EVENT_H */
