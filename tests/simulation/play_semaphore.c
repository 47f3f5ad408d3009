/* SPDX-License-Identifier: MIT */
/* play_semaphore.c -- a semaphore in a workload: acquires, releases, drains, adds, and counts.
 *
 *   overdrawn  more permits are held than there can be
 *   miscount   the number in the server contradicts the answers so far
 *   asleep     in calm, a thread waited although there were enough permits
 *   shut       after the faults, with a permit added, a thread did not get one */
#include <inttypes.h>

#include "tests/simulation/play_primitives.h"

enum { PERMITS_MAX = 4, TAKEN_MAX = 2, ASKERS_MAX = 64 };

static const char *const NAME = "semaphore:a";

static struct {
    int permits;       /* the number to which it is set */
    bool is_set;       /* a call was answered that it is set */
    int64_t low, high; /* bounds of the number in the server, by all requests so far */
    int64_t added;     /* by adds of more than 0 that have begun */
    int64_t taken_away; /* by adds of less than 0 that have ended */
    int64_t held;      /* permits whose release has not begun */
    int64_t free_since_ns[TAKEN_MAX + 1]; /* by the number of permits that a thread wants */
    struct asker {
        int permits; /* 0: no thread waits here */
        int64_t asked_ns;
    } askers[ASKERS_MAX];
} sem;

/* ---- bounds ---- */

/* Note that a change of the number was requested. */
static void ask(int64_t by)
{
    if (by < 0)
        sem.low += by;
    else
        sem.high += by;
}

/* Note the answer to it. */
static void settle(int64_t by, dlock_status st)
{
    if (play_may_be_done(st))
        return;
    if (by < 0 && st == DLOCK_OK)
        sem.high += by;
    else if (by < 0)
        sem.low -= by;
    else if (st == DLOCK_OK)
        sem.low += by;
    else
        sem.high -= by;
}

static void look(void)
{
    int64_t number = play_number(NAME);

    if (number < sem.low || number > sem.high)
        world_condemn(MISCOUNT, "the semaphore has %" PRId64 " permits, and by all answers from "
                      "%" PRId64 " to %" PRId64, number, sem.low, sem.high);
    for (int i = 1; i <= TAKEN_MAX; i++)
        play_note_since(&sem.free_since_ns[i], number >= i);
    for (int i = 0; i < ASKERS_MAX; i++)
        if (sem.askers[i].permits > 0 &&
            play_is_asleep(sem.free_since_ns[sem.askers[i].permits], sem.askers[i].asked_ns))
            world_condemn(ASLEEP, "%" PRId64 " permits have been free for %d ms, and a thread "
                          "waits for %d", number, PLAY_ASLEEP_MS, sem.askers[i].permits);
}

static void note_taken(int64_t permits, int64_t most)
{
    sem.held += permits;
    if (sem.held > most)
        world_condemn(OVERDRAWN, "%" PRId64 " permits are held of %" PRId64, sem.held, most);
    look();
}

/* ---- calls ---- */

static struct asker *begin_wait(int permits)
{
    struct asker *asker = sem.askers;

    while (asker->permits != 0)
        asker++;
    *asker = (struct asker){permits, world.now_ns};
    return asker;
}

static dlock_status acquire(struct process *process, int permits, int64_t wait_ms)
{
    int64_t taken_away = sem.taken_away;
    struct asker *asker = begin_wait(permits);
    dlock_status st;

    ask(-permits);
    st = dlock_semaphore_acquire(process->prims, NAME, permits, wait_ms);
    asker->permits = 0;
    settle(-permits, st);
    workload_check("an acquire of a semaphore", st);
    if (st == DLOCK_OK)
        note_taken(permits, sem.permits + sem.added - taken_away);
    return st;
}

static void release(struct process *process, int permits)
{
    dlock_status st;

    sem.held -= permits;
    ask(permits);
    st = dlock_semaphore_release(process->prims, NAME, permits);
    settle(permits, st);
    workload_check("a release of a semaphore", st);
    look();
}

static void add(struct process *process, int permits)
{
    dlock_status st;

    if (permits > 0)
        sem.added += permits;
    ask(permits);
    st = dlock_semaphore_add(process->prims, NAME, permits);
    settle(permits, st);
    if (permits < 0 && st == DLOCK_OK)
        sem.taken_away -= permits;
    if (permits > 0 && st != DLOCK_OK && !play_may_be_done(st))
        sem.added -= permits;
    workload_check("an add to a semaphore", st);
}

static void drain(struct process *process)
{
    int64_t everything = INT32_MAX, permits = 0, taken_away = sem.taken_away;
    dlock_status st;

    ask(-everything);
    st = dlock_semaphore_drain(process->prims, NAME, &permits);
    workload_check("a drain of a semaphore", st);
    if (play_may_be_done(st))
        return;
    sem.low += everything;
    if (st != DLOCK_OK)
        return;
    sem.low -= permits;
    sem.high -= permits;
    if (permits == 0)
        return;
    note_taken(permits, sem.permits + sem.added - taken_away);
    workload_pause_ms(20);
    release(process, (int)permits);
}

/* The number of permits that are free; INT64_MIN: no answer. */
static int64_t count(struct process *process)
{
    int64_t permits = 0;
    dlock_status st = dlock_semaphore_available(process->prims, NAME, &permits);

    workload_check("a count of a semaphore", st);
    return st == DLOCK_OK ? permits : INT64_MIN;
}

/* ---- a thread ---- */

static void play_round(struct process *process)
{
    int permits = (int)chance_between(1, sem.permits > 1 && chance_one_in(3) ? TAKEN_MAX : 1);
    int64_t wait_ms = chance_one_in(4) ? 0 : chance_skewed(1, 3000);

    if (chance_one_in(16)) {
        drain(process);
        return;
    }
    if (chance_one_in(12)) {
        add(process, -1);
        workload_pause_ms(50);
        add(process, 1);
    }
    if (acquire(process, permits, wait_ms) != DLOCK_OK)
        return;
    workload_pause_ms(chance_one_in(4) ? 300 : 20);
    if (chance_one_in(6))
        (void)count(process);
    release(process, permits);
}

/* Permits of killed processes and of unanswered requests are lost. Add the missing permits, as an
 * operator would, and acquire one. */
static void get_in_last(struct process *process)
{
    enum { TRY_MS = 3000 };
    int64_t until_ns;

    workload_await_end_of_faults();
    until_ns = world.now_ns + PLAY_LAST_WAIT_MS * MS;
    while (world.now_ns < until_ns) {
        int64_t number = count(process);

        if (number == INT64_MIN)
            play_pause_after(DLOCK_IO);
        if (number != INT64_MIN && number < 1)
            add(process, (int)(1 - number));
        if (acquire(process, 1, TRY_MS) == DLOCK_OK) {
            release(process, 1);
            return;
        }
    }
    world_condemn(SHUT, "a thread did not get a permit within %d s after the faults",
                  PLAY_LAST_WAIT_MS / 1000);
}

static void play_thread(struct process *process)
{
    for (int i = 0; i < workload.round_count; i++) {
        workload_pause_ms(chance_one_in(4) ? 200 : 5);
        play_round(process);
    }
    get_in_last(process);
}

/* ---- a process ---- */

static bool open_semaphore(struct process *process)
{
    dlock_status st = DLOCK_IO;

    if (!play_open(process))
        return false;
    while (st != DLOCK_OK && st != DLOCK_BUSY && !world.is_over) {
        st = dlock_semaphore_set(process->prims, NAME, sem.permits);
        workload_check("a set of a semaphore", st);
        play_pause_after(st);
    }
    if (!sem.is_set)
        sem.low += sem.permits;
    sem.is_set = true;
    return true;
}

static void plan(void)
{
    sem.permits = (int)chance_between(1, PERMITS_MAX);
    sem.high = sem.permits; /* the first set may already be executed */
    for (int i = 0; i <= TAKEN_MAX; i++)
        sem.free_since_ns[i] = -1;
    play_begin_looks(look);
}

const struct doings workload_semaphore = {
    .plan = plan,
    .open = open_semaphore,
    .play = play_thread,
    .close = play_close,
};
