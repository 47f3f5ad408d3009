/* SPDX-License-Identifier: MIT */
/* fork.h -- telling a process from the child that it forked. */
#ifndef DLOCK_FORK_H
#define DLOCK_FORK_H

#include <stdint.h>

/* The kernel's number of the calling process; a system call. */
uint32_t dlock_fork_process_id(void);

/* A number that differs between a process and each of its descendants by fork().  What
 * was made under one number must not be used under another.  Costs one load. */
unsigned dlock_fork_generation(void);

/* Start counting forks.  Call it before the first dlock_fork_generation() that matters;
 * it may be called any number of times. */
void dlock_fork_watch(void);

#endif /* DLOCK_FORK_H */
