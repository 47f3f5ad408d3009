/* SPDX-License-Identifier: MIT */
/* slow.c -- the work of one thread outlives its lease.
 *
 * The first holder of the target's lock is held between its read and its write, for twice
 * the lease, and then until others have asked for the lock.  If the lock is renewed
 * meanwhile, all others are refused.  Otherwise others get the lock, and then the holder
 * writes a value that it computed from its old read. */
#include <stdio.h>

#include "loadtest/sale/hazard.h"

enum stage { TO_CATCH, HELD };

#define POINT "after-read"

static enum hazard_state catch_first(struct hazard_scene *scene)
{
    enum hazard_state state = hazard_caught(scene, POINT, &scene->first);

    if (state != HAZARD_OVER)
        return state;
    hazard_next(scene);
    return HAZARD_GOING;
}

/* The step ends with one of two outcomes.  Since the lease was over, another process has
 * sold; or others have asked and the store still names the held process, so the lock was
 * renewed. */
static enum hazard_state step(struct hazard_scene *scene)
{
    int64_t held_ms = hazard_stage_ms(scene);
    bool sold, stays_out;

    if (scene->stage == TO_CATCH)
        return catch_first(scene);
    if (held_ms < 2 * scene->lease_ms)
        return HAZARD_GOING;
    hazard_contend(scene);
    sold = hazard_others_sold(scene, scene->enough);
    stays_out = !sold && hazard_stays_out(scene, NULL);
    if (!sold && !stays_out && held_ms < 2 * scene->lease_ms + HAZARD_SELL_MS)
        return HAZARD_GOING;
    snprintf(scene->note, sizeof scene->note,
             "held %s in %s for %d ms; %d others asked after two leases and %s", scene->key,
             scene->first->name, (int)held_ms, (int)hazard_tried(scene),
             sold        ? "sold"
             : stays_out ? "stayed out"
                         : "neither sold nor were kept out");
    if (!service_release(scene->first, POINT))
        return HAZARD_FAILED;
    return sold || stays_out ? HAZARD_OVER : HAZARD_MISSED;
}

const struct hazard hazard_slow = {
    .name = "slow",
    .does = "one thread's work outlives its lease",
    .needs_faults = true,
    .point = POINT,
    .step = step,
};
