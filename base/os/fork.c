/* SPDX-License-Identifier: MIT */
/* fork.c -- counts the forks between the first process and this one.
 *
 * getpid() would do too, but it is a system call, and dlock_lease_valid() must take
 * only nanoseconds. */
#include "base/os/fork.h"

#include <pthread.h>
#include <stdatomic.h>
#include <unistd.h>

static atomic_uint generation = 1;
static pthread_once_t once = PTHREAD_ONCE_INIT;

static void count_fork(void)
{
    atomic_fetch_add(&generation, 1);
}

static void watch(void)
{
    pthread_atfork(NULL, NULL, count_fork);
}

unsigned dlock_fork_generation(void)
{
    return atomic_load_explicit(&generation, memory_order_relaxed);
}

uint32_t dlock_fork_process_id(void)
{
    return (uint32_t)getpid();
}

void dlock_fork_watch(void)
{
    pthread_once(&once, watch);
}
