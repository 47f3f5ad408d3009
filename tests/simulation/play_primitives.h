/* SPDX-License-Identifier: MIT */
/* play_primitives.h -- functions that the workloads of semaphores, permits and latches share.
 *
 * Each workload judges by bounds: a request that is under way, or that got no answer, may have been
 * executed or not, also if its process was killed. */
#ifndef SIMULATION_PLAY_PRIMITIVES_H
#define SIMULATION_PLAY_PRIMITIVES_H

#include "tests/simulation/workload.h"

enum { PLAY_LAST_WAIT_MS = 60000, PLAY_ASLEEP_MS = 250 };

/* Open and close the primitives of a process. */
bool play_open(struct process *process);
void play_close(struct process *process);

/* Can the server execute, or have executed, the request with this answer? */
bool play_may_be_done(dlock_status st);

/* Pause before a request is repeated after a failure. */
void play_pause_after(dlock_status st);

/* The number in the server's key; 0: there is no such key. */
int64_t play_number(const char *key);

/* Call `look` every few milliseconds. */
void play_begin_looks(void (*look)(void));

/* Record since when a state lasts, at each look; -1: the state does not hold. */
void play_note_since(int64_t *since_ns, bool is_so);

/* In calm: has a thread waited for too long although it need not? */
bool play_is_asleep(int64_t free_since_ns, int64_t asked_ns);

#endif /* SIMULATION_PLAY_PRIMITIVES_H */
