/* SPDX-License-Identifier: MIT */
/* era.c -- finds the holds that a fail-over of the store has made uncertain. */
#include "lock/era.h"

#include "lock/hold_slots.h"

uint64_t dlock_era(const dlock_system *sys)
{
    return dlock_era_of(sys, NULL);
}

uint64_t dlock_era_of(const dlock_system *sys, const char *name)
{
    return sys->variant->era != NULL ? sys->variant->era(sys->state, name) : 0;
}

bool dlock_era_is_over(const dlock_system *sys, const struct dlock_hold_facts *facts)
{
    return facts->era != dlock_era_of(sys, facts->key.name);
}

/* With the shard locked. */
static void lose_old(struct dlock_hold *root, void *arg)
{
    const dlock_system *sys = arg;

    if (dlock_era_is_over(sys, &root->facts))
        dlock_hold_mark_lost(root, true, DLOCK_LOSS_FAIL_OVER);
}

bool dlock_era_look(const dlock_system *sys)
{
    uint64_t era = dlock_era(sys);

    if (era == atomic_load(&sys->holds->era))
        return false;
    /* Mark the holds before the new era is visible, because another thread that sees
     * the new era skips this check. */
    dlock_holds_visit(sys->holds, lose_old, (void *)(uintptr_t)sys);
    atomic_store(&sys->holds->era, era);
    return true;
}
