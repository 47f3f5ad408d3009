/* SPDX-License-Identifier: MIT */
/* status.h -- how a call fails with a reason, which dlock_error() tells. */
#ifndef DLOCK_STATUS_H
#define DLOCK_STATUS_H

#include "lock/dlock.h"

/* Forget this thread's last failure: every public call begins with it. */
void dlock_error_clear(void);

/* Record why, return `st`: `return dlock_fail(DLOCK_IO, "%s: refused", label);` */
dlock_status dlock_fail(dlock_status st, const char *fmt, ...)
    __attribute__((format(printf, 2, 3)));

#endif /* DLOCK_STATUS_H */
