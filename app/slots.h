/* SPDX-License-Identifier: MIT */
/* slots.h -- how many requests are worked on at once.
 *
 * A request takes a slot when all of it has arrived, and gives it back before its answer is
 * sent, so that no client that is slow holds one.  Requests that find none wait in the
 * order of their arrival.
 *
 * Threads     Any.
 */
#ifndef APP_SLOTS_H
#define APP_SLOTS_H

#include "app/service.h"

struct slots; /* opaque */

struct slots_stats {
    int64_t total;
    int64_t in_use;
    int64_t waiting;
    uint64_t timed_out; /* requests that waited in vain */
};

/* `count` slots; the memory of each is taken when it is first used.  NULL: no memory. */
struct slots *slots_new(struct service *service, int64_t count);
/* All must have been given back.  NULL is fine. */
void slots_free(struct slots *s);

/* Take one, waiting for it at most `wait_ms`.  NULL: the time passed, or no memory. */
struct worker *slots_take(struct slots *s, int64_t wait_ms);
/* Give it back; NULL is fine. */
void slots_give(struct slots *s, struct worker *w);

void slots_read_stats(struct slots *s, struct slots_stats *out);

#endif /* APP_SLOTS_H */
