/* SPDX-License-Identifier: MIT */
/* play_primitives.h -- what the plays of semaphores, permits and latches share.
 *
 * Each judges by bounds: a request that is under way, or that was never answered, may have been
 * executed or not, also by a process that was killed. */
#ifndef SIMULATION_PLAY_PRIMITIVES_H
#define SIMULATION_PLAY_PRIMITIVES_H

#include "tests/simulation/workload.h"

enum { PLAY_LAST_WAIT_MS = 60000, PLAY_ASLEEP_MS = 250 };

/* Open and close those of a process. */
bool play_open(struct process *process);
void play_close(struct process *process);

/* May the server execute the request of this answer, or have executed it? */
bool play_may_be_done(dlock_status st);

/* After a failure: before the same is asked for again. */
void play_pause_after(dlock_status st);

/* The number in the server's key; 0: there is no such key. */
int64_t play_number(const char *key);

/* Have `look` called every few milliseconds. */
void play_begin_looks(void (*look)(void));

/* Since when something is so that is looked at now; -1: it is not. */
void play_note_since(int64_t *since_ns, bool is_so);

/* In calm: has this been so for too long? */
bool play_is_asleep(int64_t free_since_ns, int64_t asked_ns);

#endif /* SIMULATION_PLAY_PRIMITIVES_H */
