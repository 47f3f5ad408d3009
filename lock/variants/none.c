/* SPDX-License-Identifier: MIT */
/* none.c -- no lock at all.
 *
 * Promises    nothing; every acquire is granted at once, at no cost.
 * Breaks      as soon as two requests run at the same time.
 * Described   the articles begin with it: code that is right for one user at a time. */
#include "lock/dlock_variant.h"

static dlock_status try_acquire(void *state, dlock_claim *claim)
{
    (void)state;
    (void)claim;
    return DLOCK_OK;
}

static dlock_status release(void *state, const dlock_claim *claim)
{
    (void)state;
    (void)claim;
    return DLOCK_OK;
}

static dlock_status inspect(void *state, const char *name, dlock_info *out)
{
    (void)state;
    (void)name;
    out->waiter_count = 0;
    return DLOCK_OK;
}

static dlock_status force(void *state, const char *name)
{
    (void)state;
    (void)name;
    return DLOCK_LOST;
}

extern const dlock_variant dlock_variant_none;

const dlock_variant dlock_variant_none = {
    .info =
        {
            .name = "none",
            .store = "-",
            .promises = "nothing",
            .breaks = "two requests at the same time",
            .source = "the articles' starting point",
            .caps = 0,
        },
    .try_acquire = try_acquire,
    .release = release,
    .inspect = inspect,
    .force = force,
};
