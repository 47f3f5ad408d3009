/* SPDX-License-Identifier: MIT */
/* play_latch.c -- latches in a workload: one thread sets each, all count it down and wait for it.
 *
 *   early     a wait ended although the latch had not been counted down
 *   miscount  the count contradicts the answers so far, or a latch that was open was called
 *             closed, or a latch that no thread deleted was called deleted
 *   asleep    in calm, a thread waited for a latch that was open
 *   shut      after the faults and all counts, a thread waited in vain */
#include <inttypes.h>
#include <stdio.h>

#include "tests/simulation/play_primitives.h"

enum { LATCHES_MAX = 12, COUNT_MAX = 6, WAITERS_MAX = 64, TRY_MS = 5000 };

static struct latch {
    char name[16];
    int count;
    bool has_setter, is_set;
    bool is_doubtful;   /* a set without an answer may still close it at any time */
    bool may_be_deleted, is_deleted;
    int begun, counted; /* counts that have begun, and counts that were answered */
    int64_t open_since_ns;
} latches[LATCHES_MAX];

static struct waiter {
    struct latch *latch; /* NULL: the thread waits for no latch */
    int64_t asked_ns;
} waiters[WAITERS_MAX];

static bool is_open(const struct latch *latch)
{
    return latch->is_set && (latch->is_deleted || latch->counted >= latch->count);
}

static bool is_sound(const struct latch *latch)
{
    return !latch->is_doubtful && !latch->may_be_deleted;
}

static void look(void)
{
    for (int i = 0; i < workload.round_count && i < LATCHES_MAX; i++)
        play_note_since(&latches[i].open_since_ns, is_open(&latches[i]));
    for (int i = 0; i < WAITERS_MAX; i++)
        if (waiters[i].latch != NULL &&
            play_is_asleep(waiters[i].latch->open_since_ns, waiters[i].asked_ns))
            world_condemn(ASLEEP, "%s has been open or gone for %d ms, and a thread waits for it",
                          waiters[i].latch->name, PLAY_ASLEEP_MS);
}

/* ---- calls ---- */

/* Only one thread sets a latch, so that no other thread closes it again. */
static void set(struct process *process, struct latch *latch)
{
    dlock_status st = DLOCK_IO;

    latch->has_setter = true;
    latch->count = (int)chance_between(1, COUNT_MAX);
    while (st != DLOCK_OK && st != DLOCK_BUSY && !world.is_over) {
        st = dlock_latch_set(process->prims, latch->name, latch->count);
        workload_check("a set of a latch", st);
        latch->is_doubtful = latch->is_doubtful || play_may_be_done(st);
        play_pause_after(st);
    }
    latch->is_set = true;
}

/* Check a count against its bounds: `counted` when the call began, and `begun` when it ended. */
static void check_left(const struct latch *latch, int64_t left, int counted)
{
    int64_t most = latch->count - counted, least = latch->count - latch->begun;

    most = most > 0 ? most : 0;
    least = least > 0 ? least : 0;
    if (is_sound(latch) && (left < least || left > most))
        world_condemn(MISCOUNT, "%s has the count %" PRId64 ", and by all answers from %" PRId64
                      " to %" PRId64, latch->name, left, least, most);
}

static int64_t count_down(struct process *process, struct latch *latch)
{
    int counted = latch->counted;
    int64_t left = -1;
    dlock_status st;

    latch->begun++;
    st = dlock_latch_count_down(process->prims, latch->name, &left);
    workload_check("a count of a latch", st);
    if (st != DLOCK_OK && !play_may_be_done(st))
        latch->begun--;
    play_pause_after(st);
    if (st != DLOCK_OK)
        return -1;
    check_left(latch, left, counted + 1);
    latch->counted++;
    return left;
}

static void read_count(struct process *process, const struct latch *latch)
{
    int counted = latch->counted;
    int64_t left = 0;
    dlock_status st = dlock_latch_count(process->prims, latch->name, &left);

    workload_check("a look at a latch", st);
    if (st == DLOCK_OK)
        check_left(latch, left, counted);
}

static void check_wait(const struct latch *latch, dlock_status st, bool was_open,
                       int64_t wait_ms)
{
    if (st == DLOCK_OK && latch->begun < latch->count && !latch->may_be_deleted)
        world_condemn(EARLY, "%s is open after %d counts of %d", latch->name, latch->begun,
                      latch->count);
    if (st == DLOCK_LOST && !latch->may_be_deleted)
        world_condemn(MISCOUNT, "%s was not deleted", latch->name);
    if (st == DLOCK_BUSY && wait_ms == 0 && was_open && is_sound(latch))
        world_condemn(MISCOUNT, "%s is closed after %d counts of %d", latch->name,
                      latch->counted, latch->count);
}

static dlock_status wait_for(struct process *process, struct latch *latch, int64_t wait_ms)
{
    struct waiter *waiter = waiters;
    bool was_open = is_open(latch);
    dlock_status st;

    while (waiter->latch != NULL)
        waiter++;
    *waiter = (struct waiter){latch, world.now_ns};
    st = dlock_latch_wait(process->prims, latch->name, wait_ms);
    waiter->latch = NULL;
    workload_check("a wait for a latch", st);
    check_wait(latch, st, was_open, wait_ms);
    return st;
}

static void delete(struct process *process, struct latch *latch)
{
    dlock_status st;

    latch->may_be_deleted = true;
    st = dlock_latch_delete(process->prims, latch->name);
    workload_check("a delete of a latch", st);
    latch->is_deleted = latch->is_deleted || st == DLOCK_OK;
}

/* ---- a thread ---- */

static void play_round(struct process *process, struct latch *latch)
{
    if (!latch->has_setter)
        set(process, latch);
    for (int i = 0; !latch->is_set && i < 100; i++)
        workload_pause_ms(10);
    if (!latch->is_set)
        return; /* the thread that sets it was killed */
    for (int64_t left = chance_between(0, 2); left > 0; left--) {
        workload_pause_ms(chance_one_in(4) ? 100 : 5);
        (void)count_down(process, latch);
    }
    if (chance_one_in(4))
        read_count(process, latch);
    if (chance_one_in(40))
        delete(process, latch);
    if (chance_one_in(2))
        (void)wait_for(process, latch, chance_one_in(4) ? 0 : chance_skewed(1, 1000));
}

/* Make the counts of threads that were killed or got no answer. */
static void open_last(struct process *process, struct latch *latch)
{
    int64_t until_ns = world.now_ns + PLAY_LAST_WAIT_MS * MS;
    dlock_status st;

    if (!latch->is_set)
        return; /* the thread that sets it was killed, or will open it */
    while (world.now_ns < until_ns) {
        while (count_down(process, latch) != 0 && world.now_ns < until_ns)
            continue;
        st = wait_for(process, latch, TRY_MS);
        if (st == DLOCK_OK)
            return;
        play_pause_after(st);
    }
    world_condemn(SHUT, "%s did not open within %d s after the faults", latch->name,
                  PLAY_LAST_WAIT_MS / 1000);
}

static void play_thread(struct process *process)
{
    for (int i = 0; i < workload.round_count; i++) {
        workload_pause_ms(chance_one_in(4) ? 200 : 5);
        play_round(process, &latches[i]);
    }
    workload_await_end_of_faults();
    for (int i = 0; i < workload.round_count; i++)
        open_last(process, &latches[i]);
}

static void plan(void)
{
    for (int i = 0; i < LATCHES_MAX; i++) {
        (void)snprintf(latches[i].name, sizeof(latches[i].name), "latch:%d", i);
        latches[i].open_since_ns = -1;
    }
    play_begin_looks(look);
}

const struct doings workload_latch = {
    .plan = plan,
    .open = play_open,
    .play = play_thread,
    .close = play_close,
};
