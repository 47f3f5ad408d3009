/* SPDX-License-Identifier: MIT */
/* options.h -- the options of a system: defaults, checks, a copy to keep. */
#ifndef DLOCK_OPTIONS_H
#define DLOCK_OPTIONS_H

#include "lock/dlock_variant.h"

/* Read a caller's options, whose struct may be shorter or longer than this library's.
 * *to gets every field; the strings are not copied.
 *   INVALID   `from` is NULL, its size is too small to hold `variant`, or a field is
 *             set that only a newer library knows */
dlock_status dlock_options_read(dlock_options *to, const dlock_options *from);

/* Check all options that concern every variant.  Returns the variant; NULL: an option
 * is wrong, and dlock_error() has the reason.  An option that only one variant reads
 * (its URLs) is checked by that variant. */
const dlock_variant *dlock_options_check(const dlock_options *opts);

/* Copy `from` and every string of it; false if there is no memory. */
bool dlock_options_copy(dlock_options *to, const dlock_options *from);

/* The shorter one of `lease_ms` and the longest lease of the variant. */
int dlock_options_lease_ms(const dlock_variant *variant, int lease_ms);

/* For tests: systems that are opened from now on have no longest lease, or have it
 * again. */
void dlock_options_lift_limits(bool lifted);

/* Free the strings of such a copy. */
void dlock_options_free(dlock_options *opts);

#endif /* DLOCK_OPTIONS_H */
