/* SPDX-License-Identifier: MIT */
/* progress.h -- prints the progress of a batch in a line now and then, and writes the failed seeds
 * to a file. */
#ifndef SIMULATION_PROGRESS_H
#define SIMULATION_PROGRESS_H

#include "tests/simulation/batch.h"

/* Call before the first batch. Each seed that fails is added to the file, with the command that
 * plays it again; NULL: to no file. An earlier file is overwritten. Returns false if the file
 * cannot be made; the reason is on stderr. */
bool progress_begin(const char *failed_file);

/* A function for `note` of struct batch. */
void progress_note(const struct batch *batch, const struct outcome *outcome, uint64_t seed,
                   const struct account *account);

/* Call after the last batch. Returns false if the file could not be written; the reason is on
 * stderr. */
bool progress_end(void);

#endif /* SIMULATION_PROGRESS_H */
