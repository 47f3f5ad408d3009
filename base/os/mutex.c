/* SPDX-License-Identifier: MIT */
/* mutex.c -- the count of held mutexes. */
#include "base/os/mutex.h"

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
_Thread_local int dlock_mutexes_held;
#endif

int dlock_mutex_count_held(void)
{
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
    return dlock_mutexes_held;
#else
    return 0;
#endif
}
