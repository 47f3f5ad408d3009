/* SPDX-License-Identifier: MIT */
/* check_gap.c -- a pause between the check of the owner and the delete.
 *
 * A has sold, sees that the lock is still its own, and is held just before its delete.
 * Its lease ends.  B gets the lock and is held in the middle of its work, well within
 * its own lease.  A goes on: its delete frees B's lock.  C gets in and sells.  B goes
 * on.
 *
 * Only a lock that checks and deletes in two steps has that moment.  For the others
 * there is nothing to arm, and the run is like calm with the same short lease. */
#include <stdio.h>

#include "loadtest/hazard.h"

enum stage { A_TO_CATCH, B_TO_CATCH, C_TO_SELL };

#define GAP "between-check-and-delete"

static bool arm(struct hazard_scene *scene)
{
    if (!scene->has_gap) {
        snprintf(scene->note, sizeof scene->note,
                 "this lock has no gap between check and delete");
        return true;
    }
    return hazard_lay_in_wait(scene, GAP);
}

/* A is in the gap: lay in wait for B.  Nobody can get there before A's lease is over.
 */
static enum hazard_state catch_a(struct hazard_scene *scene)
{
    enum hazard_state state = hazard_caught(scene, GAP, &scene->first);

    if (state != HAZARD_OVER)
        return state;
    if (!hazard_lay_in_wait(scene, "after-read"))
        return HAZARD_FAILED;
    hazard_next(scene);
    return HAZARD_GOING;
}

static enum hazard_state catch_b(struct hazard_scene *scene)
{
    enum hazard_state state = hazard_caught(scene, "after-read", &scene->second);

    if (state != HAZARD_OVER)
        return state;
    hazard_next(scene);
    return service_release(scene->first, GAP) ? HAZARD_GOING : HAZARD_FAILED;
}

/* After its own lease B would prove something else, so it keeps a third of that to write,
 * to commit and to give back, which a busy disk can make long. */
static bool may_hold_b(const struct hazard_scene *scene)
{
    return hazard_stage_ms(scene) < scene->lease_ms - scene->lease_ms / 3;
}

static enum hazard_state step(struct hazard_scene *scene)
{
    bool sold;

    if (!scene->has_gap)
        return HAZARD_OVER;
    if (scene->stage == A_TO_CATCH)
        return catch_a(scene);
    if (scene->stage == B_TO_CATCH)
        return catch_b(scene);
    sold = hazard_others_sold(scene);
    if (!sold && may_hold_b(scene))
        return HAZARD_GOING;
    snprintf(scene->note, sizeof scene->note,
             "a late delete freed the lock %s that %s held; a third %s", scene->key,
             scene->second->name, sold ? "sold meanwhile" : "stayed out");
    return service_release(scene->second, "after-read") ? HAZARD_OVER : HAZARD_FAILED;
}

static void undo(struct hazard_scene *scene)
{
    if (!scene->has_gap)
        return;
    hazard_let_go(scene, GAP);
    hazard_let_go(scene, "after-read");
}

extern const struct hazard hazard_check_gap;
const struct hazard hazard_check_gap = {
    .name = "check-gap",
    .does = "a pause between the check of the owner and the delete",
    .needs_faults = true,
    .arm = arm,
    .step = step,
    .undo = undo,
};
