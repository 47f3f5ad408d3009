/* SPDX-License-Identifier: MIT */
/* check_gap.c -- a pause between the check of the owner and the delete.
 *
 * Process A has sold, reads that it still owns the lock, and is held just before its
 * delete.  Its lease ends.  Process B gets the lock and is held at its work, well within
 * its own lease.  A continues, and its delete removes B's lock.  Process C gets the lock
 * and sells.  B continues.
 *
 * Only a lock that checks and deletes in two steps has this gap.  For the others no point
 * is armed, and the run is like calm with the same short lease. */
#include <stdio.h>

#include "base/text/duration.h"
#include "loadtest/sale/hazard.h"

enum stage { A_TO_CATCH, B_TO_CATCH, C_TO_SELL, B_TO_SELL };

#define GAP "between-check-and-delete"

/* A is in the gap: arm the point for B.  No process can reach the point before A's lease
 * is over. */
static enum hazard_state catch_a(struct hazard_scene *scene)
{
    enum hazard_state state = hazard_caught(scene, GAP, &scene->first);

    if (state != HAZARD_OVER)
        return state;
    scene->holds_within_lease = true;
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

/* B must write within its own lease, or the run would show another flaw.  So a third of
 * the lease is kept for B's write, commit and release. */
static bool may_hold_b(const struct hazard_scene *scene)
{
    return monotonic_ns() < scene->hold_ends_ns - scene->lease_ms / 3 * 1000000;
}

/* A's delete is seen by its effect.  That the delete has no effect is seen by the other
 * processes, which are refused for a third of a lease. */
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

/* B has kept its lock, so B sells next.  If B takes longer than its lease, a third process
 * may rightly get the lock before. */
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
    if (!scene->has_gap) {
        snprintf(scene->note, sizeof scene->note,
                 "this lock has no gap between check and delete");
        return HAZARD_OVER;
    }
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
    hazard_let_go(scene, "after-read");
}

const struct hazard hazard_check_gap = {
    .name = "check-gap",
    .does = "a pause between the check of the owner and the delete",
    .needs_faults = true,
    .point = GAP,
    .needs_gap = true,
    .step = step,
    .undo = undo,
};
