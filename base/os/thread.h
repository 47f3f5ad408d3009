/* SPDX-License-Identifier: MIT */
/* thread.h -- starting the library's own threads. */
#ifndef DLOCK_THREAD_H
#define DLOCK_THREAD_H

#include <pthread.h>

/* As pthread_create(), with every signal blocked: signals are for the program's own
 * threads.  0 or an errno. */
int dlock_thread_start(pthread_t *out, void *(*run)(void *arg), void *arg);

#endif /* DLOCK_THREAD_H */
