/* SPDX-License-Identifier: MIT */
/* by_async.h -- the same laws through the asynchronous interface.
 *
 * The linker leads the calls of the laws here (-Wl,--wrap).  Unless they are to go by the
 * asynchronous interface, they go on to the library.  If they are, each system gets an
 * interface with a thread of its own, each thread that asks is a named owner there, and
 * waits for the completion. */
#ifndef CONFORMANCE_BY_ASYNC_H
#define CONFORMANCE_BY_ASYNC_H

#include <stdbool.h>

/* From now on. */
void by_async_begin(void);

/* Does the law say something about a variant by that way?  Not if the variant has no
 * asynchronous interface, or if the law is about what only threads have. */
bool by_async_applies(const char *variant, const char *law);

#endif /* CONFORMANCE_BY_ASYNC_H */
