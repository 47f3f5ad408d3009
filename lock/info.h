/* SPDX-License-Identifier: MIT */
/* info.h -- the state of a lock, as one line of text from a store.
 *
 * One script or statement answers the whole line, so that all its values are of one
 * moment:
 *
 *     MODE LEFT LEVELS WAITERS READERS FENCE OWNER
 *
 * MODE is 0 for free, 1 for held, 2 for held by readers.  LEFT is in ms, or `never`.  A
 * number is -1 where it is not known.  OWNER is the rest of the line, and may be empty.
 * A queue whose first waiter has a turn adds a line:
 *
 *     LEFT LISTENERS OWNER
 *
 * LEFT is the number of ms for which the turn is kept for this waiter, LISTENERS the
 * number of clients that listen for it. */
#ifndef DLOCK_INFO_H
#define DLOCK_INFO_H

#include "lock/dlock_variant.h"

/* A free lock, of which nothing else is known. */
dlock_info dlock_info_nothing(void);

/* Read such a text into *out.  False: `text` has another form.  An owner that is too
 * long is cut. */
bool dlock_info_read(const char *text, dlock_info *out);

#endif /* DLOCK_INFO_H */
