/* SPDX-License-Identifier: MIT */
/* scratch.h -- arrays on the stack that are not zeroed first.
 *
 * The build asks the compiler to zero every local variable.  For an array of kilobytes
 * in the way of every request that is seen in the speed: all of them together took 3 %
 * of the processor time of a lock.  Mark one so only if its function fills what it reads. */
#ifndef DLOCK_SCRATCH_H
#define DLOCK_SCRATCH_H

#if defined(__has_attribute)
#if __has_attribute(uninitialized)
#define DLOCK_SCRATCH __attribute__((uninitialized))
#endif
#endif
#ifndef DLOCK_SCRATCH
#define DLOCK_SCRATCH
#endif

#endif /* DLOCK_SCRATCH_H */
