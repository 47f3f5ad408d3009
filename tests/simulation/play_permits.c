/* SPDX-License-Identifier: MIT */
/* play_permits.c -- permits that expire, in a workload: acquires, renewals, and releases, once and
 * twice.
 *
 *   overdrawn     more permits are held, with time left by every clock, than there are
 *   miscount      the permits in the server, free and taken, are not as many as there are
 *   twice         a permit was given back a second time
 *   lost-in-calm  in calm, a permit was lost before its end
 *   asleep, shut  as for locks
 *
 * The end of a permit is a time of a wall clock. The checks allow for the drift of clocks, and not
 * for their steps: in the class `clock` steps break the permits, as dlock_primitives.h says. */
#include <inttypes.h>
#include <string.h>

#include "tests/simulation/play_primitives.h"

enum { PERMITS_MAX = 4, HOLDS_MAX = 512 };

static const char *const NAME = "permits:a";
static const char *const TAKEN = "{permits:a}:timeout";

static int permit_count;
static int64_t free_since_ns;

static struct hold {
    bool is_used, is_granted;
    int64_t asked_ns; /* -1: the thread does not wait */
    int64_t end_ms;   /* by the holder's wall clock, without its steps */
    dlock_permit permit;
} holds[HOLDS_MAX];

/* ---- clocks ---- */

static int64_t wall_ms(const struct process *process)
{
    return site_wall_us(&process->site) / 1000 - process->site.wall_ms;
}

/* The wall clock that is the furthest ahead, or the furthest behind. */
static int64_t extreme_ms(bool is_most)
{
    int64_t found_ms = wall_ms(&workload.processes[0]);

    for (int i = 1; i < workload.process_count; i++) {
        int64_t ms = wall_ms(&workload.processes[i]);

        if (is_most ? ms > found_ms : ms < found_ms)
            found_ms = ms;
    }
    return found_ms;
}

static bool is_held(const struct hold *hold, int64_t latest_ms)
{
    return hold->is_used && hold->is_granted && hold->end_ms > latest_ms;
}

/* ---- looks ---- */

/* The permits in the server that are free, or that have ended by every clock. */
static int64_t count_free(const struct key *taken)
{
    int64_t free_count = play_number(NAME), earliest_ms = extreme_ms(false);

    for (size_t i = 0; taken != NULL && i < taken->count; i++)
        free_count += taken->parts[i].score < (double)earliest_ms;
    return free_count;
}

static void look(void)
{
    struct model *model = &servers[0].model;
    struct bytes taken_name = {(char *)(uintptr_t)TAKEN, strlen(TAKEN)};
    struct bytes name = {(char *)(uintptr_t)NAME, strlen(NAME)};
    int64_t now_ms = model_now_ms(model), in_all = play_number(NAME);
    const struct key *taken = keys_find(&model->keys, taken_name, now_ms);

    in_all += taken != NULL ? (int64_t)taken->count : 0;
    if (in_all != permit_count && (in_all != 0 || keys_find(&model->keys, name, now_ms) != NULL))
        world_condemn(MISCOUNT, "the server has %" PRId64 " permits, free and taken, of %d",
                      in_all, permit_count);
    play_note_since(&free_since_ns, count_free(taken) > 0);
    for (int i = 0; i < HOLDS_MAX; i++)
        if (holds[i].is_used && play_is_asleep(free_since_ns, holds[i].asked_ns))
            world_condemn(ASLEEP, "a permit has been free for %d ms, and a thread waits for one",
                          PLAY_ASLEEP_MS);
}

static void count_held(void)
{
    int64_t latest_ms = extreme_ms(true);
    int count = 0;

    for (int i = 0; i < HOLDS_MAX; i++)
        count += is_held(&holds[i], latest_ms);
    if (count > permit_count)
        world_condemn(OVERDRAWN, "%d permits are held of %d", count, permit_count);
    look();
}

/* ---- calls ---- */

static struct hold *acquire(struct process *process, int64_t wait_ms, int lease_ms)
{
    struct hold *hold = holds;
    dlock_status st;

    while (hold->is_used)
        hold++;
    *hold = (struct hold){.is_used = true,
                          .asked_ns = world.now_ns,
                          .end_ms = wall_ms(process) + lease_ms};
    st = dlock_permits_acquire(process->prims, NAME, wait_ms, lease_ms, &hold->permit);
    hold->asked_ns = -1;
    workload_check("an acquire of a permit", st);
    hold->is_used = hold->is_granted = st == DLOCK_OK;
    count_held();
    return st == DLOCK_OK ? hold : NULL;
}

static void renew(struct process *process, struct hold *hold)
{
    int lease_ms = (int)chance_between(100, 1000);
    int64_t end_ms = wall_ms(process) + lease_ms;
    bool had_time = is_held(hold, extreme_ms(true));
    dlock_status st;

    if (end_ms < hold->end_ms)
        hold->end_ms = end_ms; /* the earlier end or the new one */
    st = dlock_permits_renew(process->prims, NAME, &hold->permit, lease_ms);
    workload_check("a renewal of a permit", st);
    if (st == DLOCK_OK)
        hold->end_ms = end_ms;
    if (st == DLOCK_LOST && world.is_calm && had_time)
        world_condemn(LOST_IN_CALM, "a permit with time left could not be renewed");
    if (st == DLOCK_LOST)
        hold->is_granted = false;
    count_held();
}

static void release(struct process *process, struct hold *hold)
{
    dlock_permit permit = hold->permit;
    bool has_time;
    dlock_status st;

    count_held();
    has_time = world.is_calm && hold->end_ms - extreme_ms(true) > 50;
    hold->is_used = false;
    st = dlock_permits_release(process->prims, NAME, &permit);
    workload_check("a release of a permit", st);
    if (st == DLOCK_LOST && has_time)
        world_condemn(LOST_IN_CALM, "a permit with time left was lost");
    look();
    if (st != DLOCK_OK || !chance_one_in(4))
        return;
    st = dlock_permits_release(process->prims, NAME, &permit);
    workload_check("a second release of a permit", st);
    if (st == DLOCK_OK)
        world_condemn(TWICE, "a permit was given back twice");
    look();
}

static void count(struct process *process)
{
    int64_t permits = 0;
    dlock_status st = chance_one_in(2)
                          ? dlock_permits_available(process->prims, NAME, &permits)
                          : dlock_permits_acquired(process->prims, NAME, &permits);

    workload_check("a count of permits", st);
    if (st == DLOCK_OK && (permits < 0 || permits > permit_count))
        world_condemn(MISCOUNT, "%" PRId64 " permits were counted of %d", permits, permit_count);
}

static void set(struct process *process)
{
    dlock_status st = DLOCK_IO;

    while (st != DLOCK_OK && st != DLOCK_BUSY && !world.is_over) {
        st = dlock_permits_set(process->prims, NAME, permit_count);
        workload_check("a set of permits", st);
        play_pause_after(st);
    }
}

/* ---- a thread ---- */

static void play_round(struct process *process)
{
    int64_t wait_ms = chance_one_in(4) ? 0 : chance_skewed(1, 3000);
    int lease_ms = (int)chance_between(100, 1500);
    struct hold *hold = acquire(process, wait_ms, lease_ms);

    if (hold == NULL)
        return;
    workload_pause_ms(chance_one_in(6) ? 2000 : 20);
    if (chance_one_in(3))
        renew(process, hold);
    if (chance_one_in(6))
        count(process);
    if (!chance_one_in(12)) /* otherwise the permit stays until its end */
        release(process, hold);
}

static void play_thread(struct process *process)
{
    struct hold *hold;

    for (int i = 0; i < workload.round_count; i++) {
        workload_pause_ms(chance_one_in(4) ? 200 : 5);
        play_round(process);
        if (workload.class == CLASS_STORE)
            set(process); /* the server may have lost the permits */
    }
    workload_await_end_of_faults();
    set(process);
    hold = acquire(process, PLAY_LAST_WAIT_MS, 1000);
    if (hold == NULL)
        world_condemn(SHUT, "a thread did not get a permit within %d s after the faults",
                      PLAY_LAST_WAIT_MS / 1000);
    else
        release(process, hold);
}

static bool open_permits(struct process *process)
{
    if (!play_open(process))
        return false;
    set(process);
    return true;
}

static void plan(void)
{
    permit_count = (int)chance_between(1, PERMITS_MAX);
    free_since_ns = -1;
    play_begin_looks(look);
}

const struct doings workload_permits = {
    .plan = plan,
    .open = open_permits,
    .play = play_thread,
    .close = play_close,
};
