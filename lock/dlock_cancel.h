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

/* An object that ends waits: dlock_request.cancel.  Opaque. */
typedef struct dlock_cancel dlock_cancel;

/* Make a cancel object that is not fired.  The caller frees it with
 * dlock_cancel_free(). NULL: no memory.  Any thread. */
dlock_cancel *dlock_cancel_new(void);

/* Fire the object: every wait that uses it ends within about 10 ms (within 50 ms if the
 * wait is in PostgreSQL), and every later wait ends at once.  A request that is under
 * way is waited for, up to its timeout.  NULL is fine.  Any thread, and also a signal
 * handler. */
void dlock_cancel_fire(dlock_cancel *cancel);

/* Make the object unfired again.  No acquire may be using the object: an acquire that
 * has not looked at it yet would go on waiting.  NULL is fine. */
void dlock_cancel_reset(dlock_cancel *cancel);

/* Free the object.  No acquire may be using it.  NULL is fine. */
void dlock_cancel_free(dlock_cancel *cancel);

#endif /* DLOCK_DLOCK_CANCEL_H */
