/* SPDX-License-Identifier: MIT */
/* forked.h -- runs a check in a forked child of a process with several threads. */
#ifndef CONFORMANCE_FORKED_H
#define CONFORMANCE_FORKED_H

/* Call `run(data)` in a child by fork(), and return its answer, from 0 to 255.
 *
 * gcc 12's AddressSanitizer does not take the locks of its allocator before fork(). If another
 * thread holds such a lock at that moment, the child waits for it for ever. A build with
 * AddressSanitizer therefore kills a child that hangs, and calls `run(data)` in another child; so
 * `run` must work after a predecessor that was killed at any point. In every other build a child
 * that hangs fails the test. */
int forked_answer(int (*run)(void *data), void *data);

#endif
