/* SPDX-License-Identifier: MIT */
/* os.h -- the functions of the simulated operating system for the rest of the simulation. The files
 * os_*.c replace the files of base/os/. */
#ifndef SIMULATION_OS_H
#define SIMULATION_OS_H

#include "tests/simulation/task.h"

/* Call the destructors of the thread-local values of a task that ends. */
void os_end_values(struct task *task);

/* ---- events (base/os/event.h) ---- */

enum { OS_FIRST_EVENT = 1000, OS_FIRST_WIRE = 4096 };

/* Wake the loops that wait for the descriptor. */
void os_descriptor_changed(int fd);

/* Is the event raised? -1: no. */
bool os_event_is_raised(int event_fd);

/* The sum of the numbers that raised the event since it was cleared. */
uint64_t os_event_count(int event_fd);

/* Let `task` wait for the event from now on; NULL: no task. */
void os_event_watch(int event_fd, struct task *task);

/* The site whose clock is read; NULL: the site of the running task. */
extern struct site *os_clock_of;

#endif /* SIMULATION_OS_H */
