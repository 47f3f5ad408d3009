/* SPDX-License-Identifier: MIT */
/* descriptor.h -- the descriptors that a process gets from its parent: 0, 1 and 2; a write
 * without waiting; the end of a connection whose requests were given up. */
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

/* End the connection of a socket at once, in both directions: threads that wait for the socket are
 * woken, and the kernel forgets every byte that the peer has not confirmed.  After a mere close()
 * the kernel would go on sending these bytes for minutes, so a request that the caller has given up
 * could still arrive.  The peer is told by a reset, which is sent once.  The caller closes `fd`,
 * which may be no socket.  Any thread. */
void dlock_descriptor_abort(int fd);

#endif /* DLOCK_DESCRIPTOR_H */
