/* SPDX-License-Identifier: MIT */
/* info.h -- what stores tell of a lock, as one line of text.
 *
 * Scripts and statements answer it whole, so that what they tell is of one moment:
 *
 *     MODE LEFT LEVELS WAITERS READERS FENCE OWNER
 *
 * MODE is 0 for free, 1 for held, 2 for held by readers.  LEFT is in ms, or `never`.  A
 * number is -1 where it is not known.  OWNER is the rest of the line, and may be empty.
 * A queue whose first waiter has a turn adds a line:
 *
 *     LEFT LISTENERS OWNER
 *
 * LEFT is how many ms its turn is kept for it, LISTENERS how many clients listen for it. */
#ifndef DLOCK_INFO_H
#define DLOCK_INFO_H

#include "lock/dlock_variant.h"

/* A free lock, of which nothing else is known. */
dlock_info dlock_info_nothing(void);

/* False: `text` is not such a text.  An owner that is too long is cut. */
bool dlock_info_read(const char *text, dlock_info *out);

#endif /* DLOCK_INFO_H */
