/* SPDX-License-Identifier: MIT */
/* forked.h -- runs a check in a forked child of a process with several threads. */
#ifndef CONFORMANCE_FORKED_H
#define CONFORMANCE_FORKED_H

/* Call `run(data)` in a child by fork(), and return its answer, from 0 to 255.
 *
 * gcc 12's AddressSanitizer does not take its allocator's locks before fork(): where
 * another thread holds one at that moment, the child waits for it for ever.  Built with
 * AddressSanitizer, such a child is therefore ended, and `run(data)` is called in another
 * one; `run` must allow for a predecessor that was ended anywhere.  In every other build
 * a child that hangs fails the test. */
int forked_answer(int (*run)(void *data), void *data);

#endif
