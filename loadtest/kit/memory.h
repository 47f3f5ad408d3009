/* SPDX-License-Identifier: MIT */
/* memory.h -- allocations that cannot fail. */
#ifndef LOADTEST_KIT_MEMORY_H
#define LOADTEST_KIT_MEMORY_H

/* Returns `memory`, which the caller owns.  NULL ends the program with 70 and a line on
 * stderr: the laboratory cannot go on without memory. */
void *memory_need(void *memory);

#endif /* LOADTEST_KIT_MEMORY_H */
