/* SPDX-License-Identifier: MIT */
/* once.h -- runs a function once in a process, whichever thread asks first. */
#ifndef DLOCK_ONCE_H
#define DLOCK_ONCE_H

#include <pthread.h>

struct dlock_once {
    pthread_once_t os;
};

#define DLOCK_ONCE_INITIALIZER {.os = PTHREAD_ONCE_INIT}

/* Run `make` unless an earlier call did.  Every call returns after `make` has ended and
 * sees its writes; a call while another thread runs `make` waits.  Threads: any. */
static inline void dlock_once_run(struct dlock_once *once, void (*make)(void))
{
    (void)pthread_once(&once->os, make);
}

#endif /* DLOCK_ONCE_H */
