/* SPDX-License-Identifier: MIT */
/* met.h -- whether a fault met a holder of the lock at work, or nobody.
 *
 * A process counts a loss when its holder notices it: at a renewal, at the end of the lease, or at
 * the release.  No loss until a lease after the fault: it met nobody.
 *
 * Threads     One. */
#ifndef LOADTEST_SHOW_MET_H
#define LOADTEST_SHOW_MET_H

#include "loadtest/show/faults.h"

/* Read the counts.  A process that is stopped keeps what was read of it last. */
void met_read(struct show_faults *trouble);
/* The fault of that name is about to be made, or, if is_end, to be undone. */
void met_begin(struct show_faults *trouble, struct show_met *met, const char *name, bool is_end);
/* The process was killed: it held the lock if the store still names it. */
void met_kill(struct show_faults *trouble, const char *name, int process);
/* Judge a fault that is not being made or undone, when it is time; the journal has the result. */
void met_step(struct show_faults *trouble, struct show_met *met);

#endif /* LOADTEST_SHOW_MET_H */
