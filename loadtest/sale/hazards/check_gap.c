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

#include "base/text/duration.h"
#include "loadtest/sale/hazard.h"

enum stage { A_TO_CATCH, B_TO_CATCH, C_TO_SELL, B_TO_SELL };

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
    if (!service_release(scene->first, GAP))
        return HAZARD_FAILED;
    hazard_contend(scene);
    return HAZARD_GOING;
}

static enum hazard_state let_b_go(struct hazard_scene *scene, enum hazard_state then)
{
    return service_release(scene->second, "after-read") ? then : HAZARD_FAILED;
}

/* After its own lease B would prove something else, so it keeps a third of that to write,
 * to commit and to give back. */
static bool may_hold_b(const struct hazard_scene *scene)
{
    return monotonic_ns() < scene->hold_ends_ns - scene->lease_ms / 3 * 1000000;
}

/* That A's delete has happened is seen by what it does; that it does nothing, by the others,
 * who ask in vain for a third of a lease. */
static enum hazard_state wait_c(struct hazard_scene *scene)
{
    bool sold = hazard_others_sold(scene, 1) && monotonic_ns() < scene->hold_ends_ns;
    bool stays_out = !sold && hazard_stage_ms(scene) >= scene->lease_ms / 3 &&
                     hazard_stays_out(scene, NULL);
    int64_t tried = hazard_tried(scene);

    if (!sold && !stays_out && may_hold_b(scene))
        return HAZARD_GOING;
    if (sold || stays_out)
        snprintf(scene->note, sizeof scene->note,
                 "a late delete %s the lock %s that %s held; a third %s",
                 sold ? "freed" : "left", scene->key, scene->second->name,
                 sold ? "sold meanwhile" : "stayed out");
    else
        snprintf(scene->note, sizeof scene->note,
                 "the second lease of %s was nearly over when %d others had asked for it, "
                 "and none of them had sold",
                 scene->key, (int)tried);
    if (!stays_out)
        return let_b_go(scene, sold ? HAZARD_OVER : HAZARD_MISSED);
    hazard_next(scene);
    return let_b_go(scene, HAZARD_GOING);
}

/* B has kept its lock, so it is the next to sell.  If that takes longer than its lease, a
 * third may rightly get in before. */
static enum hazard_state wait_b(struct hazard_scene *scene)
{
    if (hazard_others_sold(scene, 1) && monotonic_ns() < scene->hold_ends_ns)
        return HAZARD_OVER;
    if (monotonic_ns() < scene->hold_ends_ns)
        return HAZARD_GOING;
    snprintf(scene->note, sizeof scene->note,
             "%s, which held %s, took longer than its lease to sell", scene->second->name,
             scene->key);
    return HAZARD_MISSED;
}

static enum hazard_state step(struct hazard_scene *scene)
{
    if (!scene->has_gap)
        return HAZARD_OVER;
    switch ((enum stage)scene->stage) {
    case A_TO_CATCH:
        return catch_a(scene);
    case B_TO_CATCH:
        return catch_b(scene);
    case C_TO_SELL:
        return wait_c(scene);
    case B_TO_SELL:
        break;
    }
    return wait_b(scene);
}

static void undo(struct hazard_scene *scene)
{
    if (!scene->has_gap)
        return;
    hazard_let_go(scene, GAP);
    hazard_let_go(scene, "after-read");
}

const struct hazard hazard_check_gap = {
    .name = "check-gap",
    .does = "a pause between the check of the owner and the delete",
    .needs_faults = true,
    .arm = arm,
    .step = step,
    .undo = undo,
};
