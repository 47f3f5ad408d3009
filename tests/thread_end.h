/* SPDX-License-Identifier: MIT */
/* thread_end.h -- the point at which a cancelled thread of a test ends. */
#ifndef TESTS_THREAD_END_H
#define TESTS_THREAD_END_H

#include <pthread.h>
#ifdef __SANITIZE_ADDRESS__
#include <sanitizer/asan_interface.h>
#endif

/* AddressSanitizer does not see that the end leaves the functions, and would report the next use of
 * their memory. */
static inline void thread_end_if_cancelled(void)
{
#ifdef __SANITIZE_ADDRESS__
    __asan_handle_no_return();
#endif
    pthread_testcancel();
}

#endif /* TESTS_THREAD_END_H */
