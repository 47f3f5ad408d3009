/* SPDX-License-Identifier: MIT */
/* fork.h -- tells a process apart from its forked child. */
#ifndef DLOCK_FORK_H
#define DLOCK_FORK_H

#include <stdint.h>

/* The kernel's number of the calling process; a system call. */
uint32_t dlock_fork_process_id(void);

/* A number that differs between a process and each of its descendants by fork().  An
 * object that was made under one number must not be used under another.  Costs one
 * load.  Any thread. */
unsigned dlock_fork_generation(void);

/* Begin to count forks.  Must come before the first dlock_fork_generation() that
 * matters; may be called any number of times.  Any thread. */
void dlock_fork_watch(void);

#endif /* DLOCK_FORK_H */
