/* SPDX-License-Identifier: MIT */
/* freeze.c -- a whole process stops for longer than the lease, as in a long pause of a
 * garbage collector or of a virtual machine.
 *
 * The first holder of the target's lock is held between its read and its write.  Then its
 * process is stopped, so that its watchdog stops too, and continued when others have sold
 * under its lock. (A thread that stops its own process may run for a moment until the
 * signal arrives, and write; a thread that is held cannot.) */
#include <signal.h>
#include <stdio.h>

#include "loadtest/kit/interrupt.h"
#include "loadtest/sale/hazard.h"

enum {
    STOP_MS = 10000, /* a busy machine delivers signals late too                      */
    BOUND_LEASES = 5,
    GO_ON_MS = 4,
    TRIES_MAX = 10,
};

enum stage { TO_CATCH, TO_STOP, STOPPED };

#define POINT "after-read"

static void record(const struct hazard_scene *scene, dlock_fault_phase phase)
{
    fault_history_add(scene->history, phase, "freeze", scene->first->child.pid,
                      DLOCK_ASSUMES_PROCESS);
}

static enum hazard_state catch_first(struct hazard_scene *scene)
{
    enum hazard_state state = hazard_caught(scene, POINT, &scene->first);

    if (state != HAZARD_OVER)
        return state;
    record(scene, DLOCK_FAULT_HAS_BEGUN);
    child_signal(&scene->first->child, SIGSTOP);
    hazard_next(scene);
    return HAZARD_GOING;
}

static enum hazard_state wait_stopped(struct hazard_scene *scene)
{
    int64_t baseline = scene->baseline;

    if (child_state(&scene->first->child) == 'T') {
        hazard_next(scene);
        scene->baseline = baseline;
    } else if (hazard_stage_ms(scene) > STOP_MS) {
        snprintf(scene->note, sizeof scene->note, "%s did not stop", scene->first->name);
        return HAZARD_FAILED;
    }
    return HAZARD_GOING;
}

static bool is_in_the_way(struct hazard_scene *scene)
{
    bool blocked = false;

    return audit_db_blocked_by(scene->db, scene->first->name, &blocked) && blocked;
}

/* Another thread of the stopped process may hold a row lock in the database, which blocks
 * all processes and so shows nothing.  Then the process continues for a moment and is
 * stopped again, each time for a longer moment.  Without a lock this happens nearly
 * always, hence the bound.  The first holder is held all the while, so sales of others in
 * between count too. */
static void stop_again(struct hazard_scene *scene)
{
    int64_t baseline = scene->baseline;

    child_signal(&scene->first->child, SIGCONT);
    interrupt_sleep_ms(GO_ON_MS << scene->tries++);
    child_signal(&scene->first->child, SIGSTOP);
    scene->stage = TO_CATCH;
    hazard_next(scene);
    scene->baseline = baseline;
}

/* Let the process go on, if it was stopped. */
static void undo(struct hazard_scene *scene)
{
    if (!scene->first)
        return;
    child_signal(&scene->first->child, SIGCONT);
    record(scene, DLOCK_FAULT_HAS_ENDED);
    scene->first = NULL;
}

/* Look at the results, once the process goes on. */
static enum hazard_state conclude(struct hazard_scene *scene, bool sold, bool stayed_out)
{
    const struct service *first = scene->first;
    int64_t stopped_ms = hazard_stage_ms(scene);
    int64_t tried = hazard_tried(scene);
    bool blocked = !sold && is_in_the_way(scene);

    snprintf(scene->note, sizeof scene->note,
             "%s was stopped under %s for %d ms; %d others asked after a lease and %s%s",
             first->name, scene->key, (int)stopped_ms, (int)tried,
             sold         ? "sold"
             : stayed_out ? "stayed out"
                          : "neither sold nor were kept out",
             blocked ? ", but a stopped thread kept a row from them" : "");
    undo(scene);
    if (!service_release(first, POINT))
        return HAZARD_FAILED;
    return sold || (stayed_out && !blocked) ? HAZARD_OVER : HAZARD_MISSED;
}

/* A lock that lives with its connection refuses all others, as it should.  Any other lock
 * that does so is given time, since a store may notice late that a lease was not renewed.
 */
static enum hazard_state step(struct hazard_scene *scene)
{
    int64_t stopped_ms = hazard_stage_ms(scene);
    bool sold, stayed_out;

    if (scene->stage == TO_CATCH)
        return catch_first(scene);
    if (scene->stage == TO_STOP)
        return wait_stopped(scene);
    if (scene->tries < TRIES_MAX && is_in_the_way(scene)) {
        stop_again(scene);
        return HAZARD_GOING;
    }
    if (stopped_ms * 2 < scene->lease_ms * 3)
        return HAZARD_GOING;
    hazard_contend(scene);
    sold = hazard_others_sold(scene, scene->enough);
    stayed_out =
        !sold && (scene->stays_out || stopped_ms > BOUND_LEASES * scene->lease_ms) &&
        hazard_stays_out(scene, scene->first);
    if (!sold && !stayed_out &&
        stopped_ms < BOUND_LEASES * scene->lease_ms + HAZARD_SELL_MS)
        return HAZARD_GOING;
    return conclude(scene, sold, stayed_out);
}

const struct hazard hazard_freeze = {
    .name = "freeze",
    .does = "a whole process stops for longer than the lease",
    .needs_faults = true,
    .point = POINT,
    .step = step,
    .undo = undo,
};
