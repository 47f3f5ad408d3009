/* SPDX-License-Identifier: MIT */
/* os.h -- what the simulated operating system (os_*.c, which stand for the files of base/os/)
 * gives to the rest of the simulation. */
#ifndef SIMULATION_OS_H
#define SIMULATION_OS_H

#include "tests/simulation/task.h"

/* A task ends: hand its values to those who asked for that. */
void os_end_values(struct task *task);

/* ---- events (base/os/event.h) ---- */

enum { OS_FIRST_EVENT = 1000, OS_FIRST_WIRE = 4096 };

/* Whoever waits for the descriptor in a loop looks again. */
void os_descriptor_changed(int fd);

/* Is it raised?  -1: no. */
bool os_event_is_raised(int event_fd);

/* The sum of what it was raised by since it was cleared. */
uint64_t os_event_count(int event_fd);

/* `task` waits for the event from now on; NULL: nobody. */
void os_event_watch(int event_fd, struct task *task);

/* Whose clock is read: that of the running task's site, unless one is given here. */
extern struct site *os_clock_of;

#endif /* SIMULATION_OS_H */
