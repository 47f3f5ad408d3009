/* SPDX-License-Identifier: MIT */
/* recording.h -- the library's own recorder in a simulated world, for `seckill check`.
 *
 * The checker knows one clock.  So all instants are written as those of the world, and not as
 * those of the processes, whose clocks differ.  What is recorded changes nothing of what
 * happens: a seed has the same hash with and without. */
#ifndef SIMULATION_RECORDING_H
#define SIMULATION_RECORDING_H

#include <stdbool.h>

#include "lock/record/record.h"

/* Before a world begins: its systems leave their records in `dir`, which is made.  NULL: they
 * leave none. */
void recording_to(const char *dir);

/* For the options of a system; NULL: nothing is recorded. */
const char *recording_dir(void);

/* The world has begun: open the file of its faults. */
void recording_begin(void);

/* A fault happens, which breaks `assumption`. */
void recording_fault(const char *what, dlock_assumption assumption);

/* A thread begins to work on beyond its lease, on purpose, or has ended that work. */
void recording_late_work(bool begins);

/* A thread begins to free a lock by force, whoever holds it, or has its answer. */
void recording_force(bool begins);

/* The world is over: the file of its faults is closed. */
void recording_end(void);

#endif /* SIMULATION_RECORDING_H */
