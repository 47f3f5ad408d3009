/* SPDX-License-Identifier: MIT */
/* workload_locks.c -- the calls of threads that use locks: a round acquires a lock, works, and
 * releases. */
#include <stdio.h>

#include "tests/simulation/bystander.h"
#include "tests/simulation/calls.h"
#include "tests/simulation/oracle.h"
#include "tests/simulation/recording.h"

enum {
    LAST_WAIT_MS = 60000, /* after the faults, every thread gets the lock within this time */
    CANCEL_MS = 100,      /* in calm, a cancelled wait ends within this time */
};

static bool can(enum dlock_caps what)
{
    return workload.variant->caps & what;
}

/* ---- a round ---- */

struct round {
    struct process *process;
    struct asker asker;
    int name;
    struct oracle_hold *hold;
    dlock_lease lease;
    struct canceller {
        struct event event;
        dlock_cancel *cancel;
        int64_t fired_ns; /* -1: the cancel was not fired */
    } canceller;
    bool is_watched; /* the watchdog renews the lock */
    bool is_late;    /* the thread works on beyond the lease */
};

static struct round draw_round(struct process *process, dlock_request *request)
{
    struct round round = {.process = process,
                          .name = (int)chance_between(0, workload.name_count - 1)};
    bool has_own = can(DLOCK_CAP_EXPIRES) && chance_one_in(3);

    *request = (dlock_request){.size = sizeof(*request)};
    if (!chance_one_in(4))
        request->wait_ms = chance_skewed(1, 3000);
    if (has_own)
        request->lease_ms = (int)chance_between(100, 2000);
    if (can(DLOCK_CAP_SHARED))
        request->shared = chance_one_in(2);
    round.is_watched = !has_own && can(DLOCK_CAP_PUSH | DLOCK_CAP_REENTRANT | DLOCK_CAP_QUORUM);
    round.is_late = workload.works_late && chance_one_in(5);
    return round;
}

/* Acquire and release a second level. */
static void nest(struct round *round)
{
    dlock_request request = {.size = sizeof(request), .shared = round->lease.shared};
    struct oracle_hold *hold = oracle_ask(round->process, round->name);
    dlock_lease lease;
    dlock_status st = calls_acquire(&round->asker, workload.names[round->name], &request, &lease);

    workload_check("a second level", st);
    if (st != DLOCK_OK) {
        oracle_refused(hold);
        return;
    }
    oracle_granted(hold, &lease);
    workload_pause_ms(3);
    oracle_leave(hold);
    workload_check("the release of a second level", calls_release(&round->asker, &lease));
}

static void renew(struct round *round)
{
    dlock_status st = calls_renew(&round->asker, &round->lease);

    workload_check("a renewal", st);
    if (st == DLOCK_OK)
        round->hold->lease = round->lease;
    oracle_look();
}

/* ---- ending waits ---- */

static void fire(void *arg)
{
    struct canceller *canceller = arg;

    canceller->fired_ns = world.now_ns;
    trace("cancel", 0, 0);
    dlock_cancel_fire(canceller->cancel);
}

static void begin_cancelling(struct canceller *canceller, dlock_request *request)
{
    *canceller = (struct canceller){.event = {.run = fire, .arg = canceller}, .fired_ns = -1};
    if (request->wait_ms <= 1 || request->wait_ms == LAST_WAIT_MS || !chance_one_in(6))
        return;
    canceller->cancel = request->cancel = dlock_cancel_new();
    event_plan(&canceller->event, world.now_ns + chance_between(0, request->wait_ms) * MS);
}

static void end_cancelling(struct canceller *canceller, dlock_request *request,
                           dlock_status st, bool is_async)
{
    request->cancel = NULL;
    event_drop(&canceller->event);
    if (st == DLOCK_CANCELLED && canceller->fired_ns < 0 && !is_async)
        world_condemn(CRASH, "an acquire answers cancelled, and nobody cancelled it");
    if (world.is_calm && canceller->fired_ns >= 0 &&
        canceller->fired_ns < world.now_ns - CANCEL_MS * MS)
        world_condemn(ASLEEP, "an acquire went on for %d ms after it was cancelled", CANCEL_MS);
    dlock_cancel_free(canceller->cancel);
}

static void work(struct round *round)
{
    int64_t left_ms = dlock_lease_left_ms(round->process->sys, &round->lease);
    int64_t most_ms = round->is_late      ? left_ms * 3
                      : round->is_watched ? left_ms * 2
                                          : left_ms / 2;

    if (!chance_one_in(4) && !round->is_late)
        most_ms = most_ms < 20 ? most_ms : 20; /* mostly a lock is held for a short time */
    if (round->is_late)
        recording_late_work(true);
    workload_pause_ms(most_ms);
    if (round->is_late)
        recording_late_work(false);
    if (can(DLOCK_CAP_REENTRANT) && chance_one_in(5) && calls_may_nest(&round->asker))
        nest(round);
    if (can(DLOCK_CAP_RENEW) && chance_one_in(6))
        renew(round);
}

static void give_back(struct round *round)
{
    bool abandons = can(DLOCK_CAP_EXPIRES) && chance_one_in(24);
    bool was_valid = oracle_is_valid(round->process, &round->lease);
    bool is_forced = round->hold->is_forced;
    unsigned forces = oracle_count_forces(round->name);
    dlock_status st;

    if (world.is_calm && !was_valid && !round->is_late && !is_forced)
        world_condemn(LOST_IN_CALM, "the lease of %s is not valid at the end of its work",
                      round->lease.owner);
    abandons ? oracle_abandon(round->hold) : oracle_leave(round->hold);
    st = abandons ? calls_abandon(&round->asker, &round->lease)
                  : calls_release(&round->asker, &round->lease);
    workload_check(abandons ? "an abandon" : "a release", st);
    is_forced = is_forced || forces != oracle_count_forces(round->name);
    if (world.is_calm && st == DLOCK_LOST && !round->is_late && !is_forced)
        world_condemn(LOST_IN_CALM, "the release of %s answers that the lock was lost",
                      round->lease.owner);
}

/* Acquire by the shortest call that has the parameters of the request. */
static dlock_status acquire(const struct asker *asker, const char *name,
                            const dlock_request *request, dlock_lease *lease)
{
    dlock_system *sys = asker->process->sys;

    if (asker->is_async || request->shared || request->cancel != NULL || chance_one_in(2))
        return calls_acquire(asker, name, request, lease);
    if (request->lease_ms > 0)
        return dlock_try_lock_for(sys, name, request->wait_ms, request->lease_ms, lease);
    if (request->wait_ms == 0)
        return dlock_try_lock(sys, name, lease);
    if (request->wait_ms == LAST_WAIT_MS && world.is_calm)
        return dlock_lock(sys, name, lease);
    return dlock_acquire(sys, name, request->wait_ms, lease);
}

/* Ask for the lock. Returns true if it was granted. */
static bool take(struct round *round, dlock_request *request)
{
    dlock_status st;

    round->hold = oracle_ask(round->process, round->name);
    tell("process %d task %d asks for %s, waits %d ms, lease %d ms%s",
         round->process->site.number, task_here->number, workload.names[round->name],
         (int)request->wait_ms, request->lease_ms, request->shared ? ", shared" : "");
    begin_cancelling(&round->canceller, request);
    st = acquire(&round->asker, workload.names[round->name], request, &round->lease);
    workload_check("an acquire", st);
    end_cancelling(&round->canceller, request, st, round->asker.is_async);
    if (st != DLOCK_OK) {
        oracle_refused(round->hold);
        return false;
    }
    oracle_granted(round->hold, &round->lease);
    return true;
}

static void play_round(struct process *process)
{
    dlock_request request;
    struct round round = draw_round(process, &request);

    round.asker = calls_begin(process);
    if (take(&round, &request)) {
        bystander_play(process, &round.lease);
        work(&round);
        give_back(&round);
    }
    calls_end(&round.asker);
}

/* After the faults, every thread has to get the lock. */
static void get_in_last(struct process *process)
{
    dlock_request request = {.size = sizeof(request), .wait_ms = LAST_WAIT_MS};

    workload_await_end_of_faults();
    for (int i = 0; i < workload.name_count; i++) {
        struct round round = {.process = process, .name = i, .asker = calls_begin(process)};

        if (take(&round, &request))
            give_back(&round);
        else
            world_condemn(SHUT, "a thread did not get %s within %d s after the faults",
                          workload.names[i], LAST_WAIT_MS / 1000);
        calls_end(&round.asker);
    }
}

static void play_thread(struct process *process)
{
    for (int i = 0; i < workload.round_count; i++) {
        workload_pause_ms(chance_one_in(4) ? 200 : 5);
        bystander_play(process, NULL);
        play_round(process);
    }
    get_in_last(process);
}

/* ---- a process ---- */

static void note_loss(const dlock_lease *lease, void *arg)
{
    struct process *process = arg;

    process->lost_count++;
    trace("lost", (int64_t)lease->fence, 0);
}

static bool open_system(struct process *process)
{
    dlock_options opts = dlock_options_default();
    char urls[SERVERS_MAX * 32] = "";
    size_t len = 0;
    dlock_status st;

    for (int i = 0; i < server_count; i++)
        len += (size_t)snprintf(urls + len, sizeof(urls) - len, "%sredis://127.0.0.1:%d",
                                i == 0 ? "" : ",", FIRST_PORT + i);
    opts.variant = workload.variant->name;
    opts.redis_url = opts.redlock_urls = urls;
    opts.lease_ms = workload.lease_ms;
    opts.redis_timeout_ms = 500;
    opts.record_dir = recording_dir();
    process->has_lost_fn = chance_one_in(2);
    if (process->has_lost_fn)
        opts.on_lost = note_loss;
    opts.on_lost_arg = process;
    if (workload.is_handed_over)
        opts.handover = chance_skewed(1, 100);
    st = dlock_open(&process->sys, &opts);
    workload_check("an open", st);
    if (st == DLOCK_OK && chance_one_in(2))
        process->lost_fd = dlock_lost_fd(process->sys);
    if (st == DLOCK_OK)
        calls_open(process);
    return st == DLOCK_OK;
}

static void close_system(struct process *process)
{
    calls_close(process);
    bystander_end(process);
    dlock_close(process->sys);
}

static void plan(void)
{
    workload.is_handed_over = can(DLOCK_CAP_FAIR) && chance_one_in(2);
    oracle_begin();
}

const struct doings workload_locks = {
    .plan = plan,
    .open = open_system,
    .play = play_thread,
    .close = close_system,
    .forget = oracle_forget,
};
