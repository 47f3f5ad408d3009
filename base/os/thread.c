/* SPDX-License-Identifier: MIT */
/* thread.c -- starting the library's own threads. */
#include "base/os/thread.h"

#include <signal.h>

int dlock_thread_start(pthread_t *out, void *(*run)(void *arg), void *arg)
{
    sigset_t all;
    sigset_t before;
    int rc;

    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    rc = pthread_create(out, NULL, run, arg);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return rc;
}
