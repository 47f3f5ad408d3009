/* SPDX-License-Identifier: MIT */
/* condition_line.c -- the fibers that wait for a condition. */
#include "base/os/condition_line.h"

#include "base/os/fiber.h"

/* A fiber that waits.  The structure lives on the stack of the fiber. */
struct dlock_condition_sleeper {
    struct dlock_fiber *fiber;
    struct dlock_condition_sleeper *next;
    bool is_woken; /* the sleeper is not in the list any more */
};

void dlock_condition_line_wake(struct dlock_condition_sleeper **line)
{
    struct dlock_condition_sleeper *first = *line;

    *line = first->next;
    first->is_woken = true;
    first->fiber->host->wake(first->fiber);
}

static void take_out(struct dlock_condition_sleeper **line,
                     const struct dlock_condition_sleeper *sleeper)
{
    while (*line != sleeper)
        line = &(*line)->next;
    *line = sleeper->next;
}

bool dlock_condition_line_wait(struct dlock_condition_sleeper **line, struct dlock_mutex *mutex,
                               int64_t until_ns)
{
    struct dlock_fiber *fiber = dlock_fiber_here();
    struct dlock_condition_sleeper sleeper = {.fiber = fiber};
    struct dlock_condition_sleeper **end = line;
    bool has_noticed;

    while (*end != NULL)
        end = &(*end)->next;
    *end = &sleeper;
    dlock_mutex_unlock(mutex);
    has_noticed = fiber->host->sleep(fiber, until_ns);
    dlock_mutex_lock(mutex);
    if (!sleeper.is_woken) {
        take_out(line, &sleeper);
        return false;
    }
    if (!has_noticed) { /* the wake was sent, and must not end a later sleep */
        dlock_mutex_unlock(mutex);
        dlock_fiber_let_hurry(false);
        (void)fiber->host->sleep(fiber, INT64_MAX);
        dlock_mutex_lock(mutex);
    }
    return true;
}
