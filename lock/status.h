/* SPDX-License-Identifier: MIT */
/* status.h -- the core's side of dlock_error(). */
#ifndef DLOCK_STATUS_H
#define DLOCK_STATUS_H

/* Forget this thread's last failure: every public call begins with it. */
void dlock_error_clear(void);

#endif /* DLOCK_STATUS_H */
