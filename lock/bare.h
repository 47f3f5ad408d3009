/* SPDX-License-Identifier: MIT */
/* bare.h -- is this the build that has neither fault points nor a recorder?
 *
 * `make BUILD=bare` makes one.  In this build the fault points of fault.h compile to
 * nothing, and no call enters the recorder.  The build serves as the baseline of one
 * measurement: `seckill bench-locks --only=idle` compares it with the product, which
 * always has both.
 *
 * A bare program refuses every call that asks for a fault or a record.  The reason in
 * dlock_error() begins with DLOCK_BARE_REFUSAL.
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
