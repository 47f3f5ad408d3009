/* SPDX-License-Identifier: MIT */
/* slow.c -- one thread's work outlives its lease.
 *
 * The first holder of the target's lock is held after it has read and before it writes,
 * for twice the lease.  A lock that is renewed meanwhile keeps everybody out; any other
 * lets them in, and then the holder writes what it had computed from what it had read.
 */
#include <stdio.h>

#include "loadtest/hazard.h"

enum stage { TO_CATCH, HELD };

static bool arm(struct hazard_scene *scene)
{
    return hazard_lay_in_wait(scene, "after-read");
}

static enum hazard_state catch_first(struct hazard_scene *scene)
{
    enum hazard_state state = hazard_caught(scene, "after-read", &scene->first);

    if (state != HAZARD_OVER)
        return state;
    hazard_next(scene);
    return HAZARD_GOING;
}

static enum hazard_state step(struct hazard_scene *scene)
{
    int64_t held_ms = hazard_stage_ms(scene);
    bool sold;

    if (scene->stage == TO_CATCH)
        return catch_first(scene);
    if (held_ms < 2 * scene->lease_ms)
        return HAZARD_GOING;
    /* Half a lease more for who is just about to get in. */
    sold = hazard_others_sold(scene);
    if (!sold && held_ms < 2 * scene->lease_ms + scene->lease_ms / 2)
        return HAZARD_GOING;
    snprintf(scene->note, sizeof scene->note,
             "held %s in %s for %d ms; others %s meanwhile", scene->key,
             scene->first->name, (int)held_ms, sold ? "sold" : "stayed out");
    return service_release(scene->first, "after-read") ? HAZARD_OVER : HAZARD_FAILED;
}

static void undo(struct hazard_scene *scene)
{
    hazard_let_go(scene, "after-read");
}

extern const struct hazard hazard_slow;
const struct hazard hazard_slow = {
    .name = "slow",
    .does = "one thread's work outlives its lease",
    .needs_faults = true,
    .arm = arm,
    .step = step,
    .undo = undo,
};
