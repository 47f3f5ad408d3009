/* SPDX-License-Identifier: MIT */
/* progress.h -- the progress of a batch while it is played: a line now and then, and a
 * file of the failed seeds. */
#ifndef SIMULATION_PROGRESS_H
#define SIMULATION_PROGRESS_H

#include "tests/simulation/batch.h"

/* Before the first batch.  Seeds that fail are added to the file, each with the command that plays
 * it again; NULL: to none.  The file is made new.  False: it cannot be, which is said on
 * stderr. */
bool progress_begin(const char *failed_file);

/* For struct batch's `note`. */
void progress_note(const struct batch *batch, const struct outcome *outcome, uint64_t seed,
                   const struct account *account);

/* After the last batch.  False: the file could not be written, which is said on stderr. */
bool progress_end(void);

#endif /* SIMULATION_PROGRESS_H */
