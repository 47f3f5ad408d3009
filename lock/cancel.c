/* SPDX-License-Identifier: MIT */
/* cancel.c -- a flag that ends waits.
 *
 * Firing a cancel object wakes no thread: a waiter checks the object every few ms
 * (wait.c).  Because of that, dlock_cancel_fire() takes no lock, and a signal handler
 * may call it. */
#include "lock/cancel.h"

#include <stdatomic.h>
#include <stdlib.h>

#include "base/os/fiber.h"

struct dlock_cancel {
    atomic_bool is_fired;
};

dlock_cancel *dlock_cancel_new(void)
{
    return calloc(1, sizeof(dlock_cancel));
}

void dlock_cancel_fire(dlock_cancel *cancel)
{
    if (cancel != NULL)
        atomic_store(&cancel->is_fired, true);
}

void dlock_cancel_reset(dlock_cancel *cancel)
{
    if (cancel != NULL)
        atomic_store(&cancel->is_fired, false);
}

void dlock_cancel_free(dlock_cancel *cancel)
{
    free(cancel);
}

bool dlock_cancel_is_fired(const dlock_cancel *cancel)
{
    return (cancel != NULL && atomic_load(&cancel->is_fired)) || dlock_fiber_is_hurried();
}
