/* SPDX-License-Identifier: MIT */
/* permits.c -- the steps in which permits are added and needed, in the order of time. */
#include "loadtest/check/permits.h"

#include <stdlib.h>

#include "loadtest/kit/memory.h"

static int by_time(const void *left, const void *right)
{
    const struct permits_step *a = left, *b = right;

    if (a->at_ns != b->at_ns)
        return COMPARE(a->at_ns, b->at_ns);
    if ((a->delta > 0) != (b->delta > 0))
        return a->delta > 0 ? 1 : -1; /* at one instant a step that adds permits comes
                                       * before a step that needs some */
    return COMPARE(a->call, b->call);
}

void permits_add_step(struct permits_steps *s, int64_t at_ns, int64_t delta, int64_t call,
                      bool is_end)
{
    MEMORY_ROOM(s->steps, s->count, 1, s->room);
    s->steps[s->count++] = (struct permits_step){at_ns, delta, call, is_end};
}

void permits_sort(struct permits_steps *s)
{
    if (s->count > 1)
        qsort(s->steps, s->count, sizeof(*s->steps), by_time);
}
