/* SPDX-License-Identifier: MIT */
/* os_line.c -- the fibers that wait for a condition. */
#include "tests/simulation/os_line.h"

#include "base/os/fiber.h"

/* A fiber that waits, the first to come first. */
struct dlock_condition_sleeper {
    struct dlock_fiber *fiber;
    struct dlock_condition_sleeper *next;
    bool is_woken; /* it is not in the list any more */
};

void os_line_wake(struct dlock_condition *condition)
{
    struct dlock_condition_sleeper *first = condition->fibers;

    condition->fibers = first->next;
    first->is_woken = true;
    first->fiber->host->wake(first->fiber);
}

static void take_out(struct dlock_condition *condition,
                     const struct dlock_condition_sleeper *sleeper)
{
    struct dlock_condition_sleeper **at = &condition->fibers;

    while (*at != sleeper)
        at = &(*at)->next;
    *at = sleeper->next;
}

bool os_line_wait(struct dlock_condition *condition, struct dlock_mutex *mutex,
                  int64_t until_ns)
{
    struct dlock_fiber *fiber = dlock_fiber_here();
    struct dlock_condition_sleeper sleeper = {.fiber = fiber};
    struct dlock_condition_sleeper **end = &condition->fibers;
    bool has_noticed;

    while (*end != NULL)
        end = &(*end)->next;
    *end = &sleeper;
    dlock_mutex_unlock(mutex);
    has_noticed = fiber->host->sleep(fiber, until_ns);
    dlock_mutex_lock(mutex);
    if (!sleeper.is_woken) {
        take_out(condition, &sleeper);
        return false;
    }
    if (!has_noticed) { /* the wake is on its way, and must not end a later sleep */
        dlock_mutex_unlock(mutex);
        dlock_fiber_let_hurry(false);
        (void)fiber->host->sleep(fiber, INT64_MAX);
        dlock_mutex_lock(mutex);
    }
    return true;
}
