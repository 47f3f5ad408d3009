/* SPDX-License-Identifier: MIT */
/* status.h -- failing with a reason, which dlock_error() returns. */
#ifndef DLOCK_STATUS_H
#define DLOCK_STATUS_H

#include "lock/dlock.h"

enum { DLOCK_ERROR_SIZE = 320 };

/* Forget this thread's last failure: every public call begins with it. */
void dlock_error_clear(void);

/* Keep `text` as the reason of the calling thread's or fiber's failure. */
void dlock_error_set(const char *text);

/* Keep the reason for dlock_error(), as base/os/utf8.h shows it, and return `st`:
 * `return dlock_fail(DLOCK_IO, "%s: refused", label);` */
dlock_status dlock_fail(dlock_status st, const char *fmt, ...)
    __attribute__((format(printf, 2, 3)));

/* The state of a fiber, to which its `local` (base/os/fiber.h) points: its identity as
 * an owner, and the text of its last failure. */
struct dlock_owner;
struct dlock_caller {
    struct dlock_owner *owner;
    char error_text[DLOCK_ERROR_SIZE];
};

/* The calling fiber's; NULL in a thread, which has thread-local memory for both. */
struct dlock_caller *dlock_caller_here(void);

#endif /* DLOCK_STATUS_H */
