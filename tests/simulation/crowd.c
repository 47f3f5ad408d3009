/* SPDX-License-Identifier: MIT */
/* crowd.c -- the rounds of a thread, and the life of a process. */
#include "tests/simulation/crowd.h"

#include <stdio.h>

#include "tests/simulation/oracle.h"

enum {
    LAST_WAIT_MS = 60000, /* within this everybody gets in when the faults are over */
    OPEN_AGAIN_MS = 50,
    WORLD_ENDS_S = 900,
};

struct crowd crowd;

static bool can(enum dlock_caps what)
{
    return crowd.variant->caps & what;
}

/* ---- answers ---- */

/* An answer that a correct program has to expect; in calm the servers always answer. */
static void check_answer(const char *call, dlock_status st)
{
    bool is_fault = st == DLOCK_IO || st == DLOCK_UNKNOWN;

    world.account->calls++;
    tell("%s answers %s %s", call, dlock_status_id(st), st == DLOCK_OK ? "" : dlock_error());
    trace("answer", (int64_t)st, 0);
    if (st == DLOCK_PROTOCOL && crowd.class == CLASS_STORE)
        return; /* the server was full */
    if (!dlock_is_failure(st) || (is_fault && !world.is_calm))
        return;
    world_condemn(CRASH, "%s answers %s: %s", call, dlock_status_id(st), dlock_error());
}

/* ---- a round ---- */

struct round {
    struct process *process;
    int name;
    struct oracle_hold *hold;
    dlock_lease lease;
    bool is_watched; /* the library renews it */
    bool is_late;    /* the thread works on beyond the lease */
};

static struct round draw_round(struct process *process, dlock_request *request)
{
    struct round round = {.process = process,
                          .name = (int)chance_between(0, crowd.name_count - 1)};
    bool has_own = can(DLOCK_CAP_EXPIRES) && chance_one_in(3);

    *request = (dlock_request){.size = sizeof(*request)};
    if (!chance_one_in(4))
        request->wait_ms = chance_skewed(1, 3000);
    if (has_own)
        request->lease_ms = (int)chance_between(100, 2000);
    if (can(DLOCK_CAP_SHARED))
        request->shared = chance_one_in(2);
    round.is_watched = !has_own && can(DLOCK_CAP_PUSH | DLOCK_CAP_REENTRANT | DLOCK_CAP_QUORUM);
    round.is_late = crowd.works_late && chance_one_in(5);
    return round;
}

static void pause_ms(int64_t most_ms)
{
    task_pause(chance_skewed(1000, most_ms < 1 ? MS : most_ms * MS));
}

/* One more level, and back. */
static void nest(struct round *round)
{
    dlock_request request = {.size = sizeof(request), .shared = round->lease.shared};
    struct oracle_hold *hold = oracle_ask(round->process, round->name);
    dlock_lease lease;
    dlock_status st = dlock_acquire_with(round->process->sys, crowd.names[round->name],
                                         &request, &lease);

    check_answer("a second level", st);
    if (st != DLOCK_OK) {
        oracle_refused(hold);
        return;
    }
    oracle_granted(hold, &lease);
    pause_ms(3);
    oracle_leave(hold);
    check_answer("the release of a second level", dlock_release(round->process->sys, &lease));
}

static void renew(struct round *round)
{
    dlock_status st = dlock_renew(round->process->sys, &round->lease);

    check_answer("a renewal", st);
    if (st == DLOCK_OK)
        round->hold->lease = round->lease;
    oracle_look();
}

static void work(struct round *round)
{
    int64_t left_ms = dlock_lease_left_ms(round->process->sys, &round->lease);
    int64_t most_ms = round->is_late      ? left_ms * 3
                      : round->is_watched ? left_ms * 2
                                          : left_ms / 2;

    if (!chance_one_in(4) && !round->is_late)
        most_ms = most_ms < 20 ? most_ms : 20; /* mostly a lock is held for a moment */
    pause_ms(most_ms);
    if (can(DLOCK_CAP_REENTRANT) && chance_one_in(5))
        nest(round);
    if (can(DLOCK_CAP_RENEW) && chance_one_in(6))
        renew(round);
}

static void give_back(struct round *round)
{
    bool abandons = can(DLOCK_CAP_EXPIRES) && chance_one_in(24);
    bool was_valid = oracle_is_valid(round->process, &round->lease);
    dlock_status st;

    if (world.is_calm && !was_valid && !round->is_late)
        world_condemn(LOST_IN_CALM, "the lease of %s is not valid at the end of its work",
                      round->lease.owner);
    oracle_leave(round->hold);
    st = abandons ? dlock_abandon(round->process->sys, &round->lease)
                  : dlock_release(round->process->sys, &round->lease);
    check_answer(abandons ? "an abandon" : "a release", st);
    if (world.is_calm && st == DLOCK_LOST && !round->is_late)
        world_condemn(LOST_IN_CALM, "the release of %s answers that the lock was lost",
                      round->lease.owner);
}

/* Is it granted? */
static bool take(struct round *round, const dlock_request *request)
{
    dlock_status st;

    round->hold = oracle_ask(round->process, round->name);
    tell("process %d task %d asks for %s, waits %d ms, lease %d ms%s",
         round->process->site.number, task_here->number, crowd.names[round->name],
         (int)request->wait_ms, request->lease_ms, request->shared ? ", shared" : "");
    st = dlock_acquire_with(round->process->sys, crowd.names[round->name], request,
                            &round->lease);
    check_answer("an acquire", st);
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

    if (!take(&round, &request))
        return;
    work(&round);
    give_back(&round);
}

/* The faults are over: whoever asks gets in. */
static void get_in_last(struct process *process)
{
    dlock_request request = {.size = sizeof(request), .wait_ms = LAST_WAIT_MS};

    if (world.now_ns < crowd.faults_end_ns)
        task_pause(crowd.faults_end_ns - world.now_ns + chance_between(1, 1000) * MS);
    for (int i = 0; i < crowd.name_count; i++) {
        struct round round = {.process = process, .name = i};

        if (take(&round, &request))
            give_back(&round);
        else
            world_condemn(SHUT, "a thread did not get %s within %d s after the faults",
                          crowd.names[i], LAST_WAIT_MS / 1000);
    }
}

/* ---- threads and processes ---- */

static void end_process(struct process *process)
{
    process->is_over = true;
    for (int i = 0; i < crowd.process_count; i++)
        if (!crowd.processes[i].is_over)
            return;
    world.is_over = true;
}

static void *run_thread(void *arg)
{
    struct process *process = arg;

    dlock_process_enter(&process->own);
    for (int i = 0; i < crowd.round_count; i++) {
        pause_ms(chance_one_in(4) ? 200 : 5);
        play_round(process);
    }
    get_in_last(process);
    process->ended_count++;
    task_wake(process->main);
    return NULL;
}

static void note_loss(const dlock_lease *lease, void *arg)
{
    (void)arg;
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
    opts.variant = crowd.variant->name;
    opts.redis_url = opts.redlock_urls = urls;
    opts.lease_ms = crowd.lease_ms;
    opts.redis_timeout_ms = 500;
    if (chance_one_in(2))
        opts.on_lost = note_loss;
    st = dlock_open(&process->sys, &opts);
    check_answer("an open", st);
    return st == DLOCK_OK;
}

static void *run_process(void *arg)
{
    struct process *process = arg;

    dlock_process_enter(&process->own);
    while (!open_system(process) && !world.is_over)
        task_pause(OPEN_AGAIN_MS * MS);
    process->is_open = true;
    for (int i = 0; i < process->thread_count; i++)
        if (task_begin(&process->site, run_thread, process) == NULL)
            process->ended_count++;
    while (process->ended_count < process->thread_count)
        (void)task_sleep(INT64_MAX);
    process->is_open = false;
    dlock_close(process->sys);
    end_process(process);
    return NULL;
}

bool crowd_add_process(void)
{
    struct process *process;

    if (crowd.process_count == PROCESSES_MAX)
        return false;
    process = &crowd.processes[crowd.process_count];
    process->site = (struct site){
        .number = crowd.process_count,
        .offset_ns = chance_between(1, 100000) * SECOND,
        .drift_ppb = chance_between(-200000, 200000),
    };
    process->thread_count = (int)chance_between(1, chance_one_in(8) ? THREADS_MAX : 2);
    if (!dlock_process_init(&process->own))
        return false;
    crowd.process_count++;
    process->is_used = true;
    process->main = task_begin(&process->site, run_process, process);
    return process->main != NULL;
}

void crowd_kill(struct process *process)
{
    process->site.is_dead = true;
    process->is_open = false;
    oracle_forget(process);
    network_cut_process(&process->site);
    tell("process %d is killed", process->site.number);
    end_process(process);
}

/* ---- the plan ---- */

static void end_world(void *arg)
{
    (void)arg;
    world_condemn(ENDLESS, "the crowd has not come to its end after %d s", WORLD_ENDS_S);
}

void crowd_begin(const struct play *play)
{
    static struct event end = {.run = end_world};
    int process_count = (int)chance_between(2, chance_one_in(8) ? 6 : 4);

    crowd.variant = play->variant;
    crowd.class = play->class;
    world.is_calm = play->class == CLASS_CALM;
    crowd.works_late = !world.is_calm;
    crowd.name_count = chance_one_in(3) ? (int)chance_between(2, NAMES_MAX) : 1;
    for (int i = 0; i < crowd.name_count; i++)
        (void)snprintf(crowd.names[i], NAME_SIZE, "lock:%c", 'a' + i);
    crowd.lease_ms = (int)chance_between(200, 2000);
    crowd.round_count = (int)chance_between(4, 12);
    for (int i = 0; i < process_count; i++)
        (void)crowd_add_process();
    event_plan(&end, WORLD_ENDS_S * SECOND);
}
