/* SPDX-License-Identifier: MIT */
/* memory.h -- allocations that cannot fail. */
#ifndef LOADTEST_KIT_MEMORY_H
#define LOADTEST_KIT_MEMORY_H

#include <stddef.h>

/* Returns `memory`, which the caller owns.  NULL ends the program with 70 and a line on
 * stderr: the laboratory cannot go on without memory. */
void *memory_need(void *memory);

/* Returns an array of `size` bytes that begins with the first `used` bytes of `array`, which is
 * freed.  A large array is in huge pages where the system has them, because random reads of
 * hundreds of megabytes in small pages miss the TLB.  Bytes that were never written cost no
 * memory.  The caller frees the array, or grows it again.  Without memory the program ends as
 * above. */
void *memory_grow(void *array, size_t used, size_t size);

/* Returns an array that begins with the first `used` elements of `array` and has room
 * for `more` behind them: `array` itself, or a larger one in its place, as of
 * memory_grow().  *room, in elements of `size` bytes, is what there is room for.  It at
 * least doubles, so that the time to add elements one by one grows as their count. */
void *memory_room(void *array, size_t used, size_t more, size_t *room, size_t size);

/* The same in a variable that has the array. */
#define MEMORY_ROOM(array, used, more, room)                                           \
    ((array) = memory_room((array), (used), (more), &(room), sizeof(*(array))))

#endif /* LOADTEST_KIT_MEMORY_H */
