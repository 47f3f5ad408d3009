/* SPDX-License-Identifier: MIT */
/* recording.h -- the library's own recorder in a simulated world, for `seckill check`.
 *
 * The checker knows one clock. So all instants are recorded by the clock of the world, and not by
 * the clocks of the processes, which differ. Recording does not change the course of a seed: its
 * hash is the same with and without records. */
#ifndef SIMULATION_RECORDING_H
#define SIMULATION_RECORDING_H

#include <stdbool.h>

#include "lock/record/record.h"

/* Before a world begins: let its systems leave their records in `dir`, which is created. NULL: they
 * leave none. */
void recording_to(const char *dir);

/* The directory for the options of a system; NULL: nothing is recorded. */
const char *recording_dir(void);

/* The world has begun: open the file of its faults. */
void recording_begin(void);

/* Record a fault that happens now and breaks `assumption`. */
void recording_fault(const char *what, dlock_assumption assumption);

/* Record that a thread begins to work on beyond its lease on purpose, or has ended that work. */
void recording_late_work(bool begins);

/* Record that a thread begins to free a lock by force, whoever holds it, or has got the answer. */
void recording_force(bool begins);

/* The world has ended: close the file of its faults. */
void recording_end(void);

#endif /* SIMULATION_RECORDING_H */
