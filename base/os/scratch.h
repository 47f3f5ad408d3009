/* SPDX-License-Identifier: MIT */
/* scratch.h -- arrays on the stack that are not zeroed first.
 *
 * The build asks the compiler to zero every local variable.  In functions that every
 * request runs, zeroing arrays of kilobytes took 3 % of the processor time of a lock.
 * Mark an array with DLOCK_SCRATCH only if its function writes every byte before it
 * reads it. */
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
