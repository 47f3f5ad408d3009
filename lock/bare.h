/* SPDX-License-Identifier: MIT */
/* bare.h -- is this the build that has neither fault points nor a recorder?
 *
 * `make BUILD=bare` makes one.  The points of fault.h are nothing in it, and no call
 * enters the recorder.  The build exists only to be measured against: `seckill bench-locks
 * --only=idle` stands the product beside it, and the product always has both.
 *
 * A bare program refuses every call for a fault or for a record, and the reason
 * begins with DLOCK_BARE_REFUSAL.
 */
#ifndef DLOCK_BARE_H
#define DLOCK_BARE_H

#ifdef DLOCK_BARE
enum { DLOCK_IS_BARE = 1 };
#else
enum { DLOCK_IS_BARE = 0 };
#endif

#define DLOCK_BARE_REFUSAL                                                             \
    "this is a bare build (make BUILD=bare), only to be measured against"

#endif /* DLOCK_BARE_H */
