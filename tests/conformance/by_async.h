/* SPDX-License-Identifier: MIT */
/* by_async.h -- runs the laws through the asynchronous interface.
 *
 * The linker redirects each call of dlock_*() in the laws to this file (-Wl,--wrap). Before
 * by_async_begin() the calls go on to the library. After it, each system gets an asynchronous
 * interface with a thread of its own. Each thread that calls is a named owner of this interface,
 * and waits for the completion of each call. */
#ifndef CONFORMANCE_BY_ASYNC_H
#define CONFORMANCE_BY_ASYNC_H

#include <stdbool.h>

/* From now on, send the calls of the laws through the asynchronous interface. */
void by_async_begin(void);

/* Can the law be tested through the asynchronous interface? No, if the variant has no such
 * interface, or if the law is about a property that only threads have. */
bool by_async_applies(const char *variant, const char *law);

#endif /* CONFORMANCE_BY_ASYNC_H */
