/* SPDX-License-Identifier: MIT */
/* slots.h -- slots of the lab's Redis Cluster, which move from one master to another with their
 * keys while clients use these keys.
 *
 * A move has several steps.  A signal that asks the program to end waits until the slot has moved;
 * a second signal, or SIGKILL, leaves the move open, and fault_slots_finish() ends it later. */
#ifndef LOADTEST_FAULT_SLOTS_H
#define LOADTEST_FAULT_SLOTS_H

#include "loadtest/fault/server_fault.h"

enum { FAULT_SLOTS_MAX = 64 };

/* The slot that makes the server the leader, and those in which the scene's server has keys, at
 * most FAULT_SLOTS_MAX.  False: said why. */
bool fault_slots_choose(struct fault_scene *scene, int slots[FAULT_SLOTS_MAX], int *count);

/* Let the slot move.  False: said why; the move may be open. */
bool fault_slot_move(struct fault_scene *scene, int slot, const struct lab_server *from,
                     const struct lab_server *to);

/* End the moves that were left open: each slot comes to the master to which it was moving.  Add
 * each to the note, and count them in *count.  False: the slot that could not be moved is named,
 * with a remedy. */
bool fault_slots_finish(struct fault_scene *scene, int *count);

#endif /* LOADTEST_FAULT_SLOTS_H */
