/* SPDX-License-Identifier: MIT */
/* loop_due.c -- the ends of sleeps: a heap of fibers.
 *
 * Most fibers are woken long before the end of their sleep, and their next sleep ends
 * later.  So a fiber keeps its place in the heap when it is woken.  It is moved only
 * when its place is the first, or when its new sleep ends earlier. */
#include <stdlib.h>

#include "base/os/loop_inside.h"

enum { FIRST_ROOM = 64 };

static void put(struct dlock_loop *loop, size_t place, struct dlock_loop_fiber *fiber)
{
    loop->due[place - 1] = fiber;
    fiber->place = place;
}

static void rise(struct dlock_loop *loop, struct dlock_loop_fiber *fiber)
{
    size_t place = fiber->place;

    while (place > 1 && loop->due[place / 2 - 1]->placed_ns > fiber->placed_ns) {
        put(loop, place, loop->due[place / 2 - 1]);
        place /= 2;
    }
    put(loop, place, fiber);
}

static void sink(struct dlock_loop *loop, struct dlock_loop_fiber *fiber)
{
    size_t place = fiber->place;

    for (;;) {
        size_t child = place * 2;

        if (child < loop->due_count &&
            loop->due[child]->placed_ns < loop->due[child - 1]->placed_ns)
            child++;
        if (child > loop->due_count ||
            loop->due[child - 1]->placed_ns >= fiber->placed_ns)
            break;
        put(loop, place, loop->due[child - 1]);
        place = child;
    }
    put(loop, place, fiber);
}

bool dlock_loop_due_make_room(struct dlock_loop *loop)
{
    size_t room = loop->due_room == 0 ? FIRST_ROOM : loop->due_room * 2;
    struct dlock_loop_fiber **longer;

    if (loop->fiber_count < loop->due_room)
        return true;
    longer = realloc(loop->due, room * sizeof(struct dlock_loop_fiber *));
    if (longer == NULL)
        return false;
    loop->due = longer;
    loop->due_room = room;
    return true;
}

void dlock_loop_due_at(struct dlock_loop_fiber *fiber, int64_t at_ns)
{
    struct dlock_loop *loop = fiber->loop;

    fiber->due_ns = at_ns;
    if (at_ns == INT64_MAX || (fiber->place != 0 && fiber->placed_ns <= at_ns))
        return;
    if (fiber->place == 0)
        put(loop, ++loop->due_count, fiber);
    fiber->placed_ns = at_ns;
    rise(loop, fiber);
}

void dlock_loop_due_forget(struct dlock_loop_fiber *fiber)
{
    struct dlock_loop *loop = fiber->loop;
    size_t place = fiber->place;
    struct dlock_loop_fiber *last;

    fiber->place = 0;
    if (place == 0)
        return;
    last = loop->due[--loop->due_count];
    if (last == fiber)
        return;
    put(loop, place, last);
    rise(loop, last);
    sink(loop, last);
}

int64_t dlock_loop_due_next_ns(const struct dlock_loop *loop)
{
    return loop->due_count > 0 ? loop->due[0]->placed_ns : INT64_MAX;
}

void dlock_loop_due_end(struct dlock_loop *loop, int64_t now_ns)
{
    while (dlock_loop_due_next_ns(loop) <= now_ns) {
        struct dlock_loop_fiber *fiber = loop->due[0];

        if (fiber->is_asleep && fiber->due_ns != INT64_MAX && fiber->due_ns > now_ns) {
            fiber->placed_ns = fiber->due_ns;
            sink(loop, fiber);
            continue;
        }
        dlock_loop_due_forget(fiber);
        if (fiber->due_ns <= now_ns)
            dlock_loop_make_ready(fiber);
    }
}
