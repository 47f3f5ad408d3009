/* SPDX-License-Identifier: MIT */
/* dlock_cancel.h -- ending a wait.
 *
 * A part of dlock.h, which includes it: programs include dlock.h alone. */
#ifndef DLOCK_DLOCK_CANCEL_H
#define DLOCK_DLOCK_CANCEL_H

#ifndef DLOCK_H
#error "include dlock.h, of which this is a part"
#endif

/* ---- cancel: ending a wait ---- */

/* Ends waits: see dlock_acquire_with().  Opaque. */
typedef struct dlock_cancel dlock_cancel;

/* A new cancel, not fired; the caller's to free.  NULL: no memory. */
dlock_cancel *dlock_cancel_new(void);

/* End every wait that was given it, within some 10 ms (within 50 ms where the wait is in
 * PostgreSQL), and every one that is given it later.  A request that is on its way is
 * waited for, up to its timeout.  Any thread, any time, also a signal handler. */
void dlock_cancel_fire(dlock_cancel *cancel);

/* Not fired any more.  No acquire may be using it: one that has not looked yet would go
 * on waiting. */
void dlock_cancel_reset(dlock_cancel *cancel);

/* No acquire may be using it.  NULL is fine. */
void dlock_cancel_free(dlock_cancel *cancel);

#endif /* DLOCK_DLOCK_CANCEL_H */
