/* SPDX-License-Identifier: MIT */
/* memory.h -- allocations that cannot fail. */
#ifndef LOADTEST_KIT_MEMORY_H
#define LOADTEST_KIT_MEMORY_H

#include <stddef.h>

/* Returns `memory`, which the caller owns.  NULL ends the program with 70 and a line on
 * stderr: the laboratory cannot go on without memory. */
void *memory_need(void *memory);

/* Returns an array of `size` bytes that begins with the first `used` bytes of `array`, which
 * is freed.  A large one lies in huge pages where the system has them, because reading
 * hundreds of megabytes in no order misses the translations of small pages; what was never
 * written costs no memory.  The caller frees it, or grows it again.  Without memory the
 * program ends as above. */
void *memory_grow(void *array, size_t used, size_t size);

#endif /* LOADTEST_KIT_MEMORY_H */
