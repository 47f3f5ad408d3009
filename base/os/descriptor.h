/* SPDX-License-Identifier: MIT */
/* descriptor.h -- the descriptors that a process gets from its parent: 0, 1 and 2. */
#ifndef DLOCK_DESCRIPTOR_H
#define DLOCK_DESCRIPTOR_H

#include <stdbool.h>
#include <stddef.h>

/* Open /dev/null in place of each of the descriptors 0, 1 and 2 that is closed; reads from 0, and
 * writes to 1 and 2, still fail with EBADF.  Without that, a socket may get the number 2, and every
 * line for standard error is sent to a server.  First call of a main(), before other threads. */
void dlock_descriptor_keep_standard(void);

enum { DLOCK_DESCRIPTOR_WHOLE = 4096 }; /* PIPE_BUF: a write of so many bytes to a pipe is whole */

/* Write `size` bytes (at most DLOCK_DESCRIPTOR_WHOLE) in one call, and do not wait for room.
 * False: there was no room, or write() failed or wrote only a part.  May wait if another
 * process takes the last room of the same pipe between both system calls of this function.  Any
 * thread; one at a time per descriptor. */
bool dlock_descriptor_write_now(int fd, const void *bytes, size_t size);

#endif /* DLOCK_DESCRIPTOR_H */
