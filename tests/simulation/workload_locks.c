/* SPDX-License-Identifier: MIT */
/* workload_locks.c -- the calls of threads that use locks: a round acquires a lock, works, and
 * releases. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "tests/simulation/oracle.h"
#include "tests/simulation/os.h"
#include "tests/simulation/recording.h"
#include "tests/simulation/workload.h"

/* ---- the calls of a thread: blocking ones, or asynchronous ones whose completion it awaits ----
 *
 * Chance decides whether a thread of its own or a polling task runs an asynchronous interface.
 *
 *   twice    an asynchronous call was answered twice, or not until the interface was closed
 *   asleep   in calm, an acquire went on for long after it was cancelled */

/* The owner of the calls of a round. */
struct asker {
    struct process *process;
    bool is_async;
    dlock_async_owner *owner; /* NULL: each acquire has an owner of its own */
};

enum { ANSWERS_MAX = 4096, LATE_MS = 300 };

/* The answer of a call. Each call has a place of its own, so that a second answer is noticed. */
static struct answer {
    struct process *process;
    struct task *task;
    int count;
    dlock_status st;
    dlock_lease lease;
} answers[ANSWERS_MAX];
static int answer_count;

static struct answer *begin_answer(struct process *process)
{
    if (answer_count == ANSWERS_MAX) {
        world_condemn(NOT_KNOWN,
                      "the workload makes more asynchronous calls than there is room for");
        answer_count = 0;
    }
    answers[answer_count] = (struct answer){.process = process, .task = task_here};
    return &answers[answer_count++];
}

static void complete(dlock_status st, dlock_lease *lease, void *arg)
{
    struct answer *answer = arg;

    trace("completes", (int64_t)st, answer->count);
    answer->st = st;
    if (lease != NULL)
        answer->lease = *lease;
    if (++answer->count > 1)
        world_condemn(TWICE, "an asynchronous call is answered a second time");
    task_wake(answer->task);
}

/* Wait for the answer. `made` is what the call itself returned. */
static dlock_status await(struct answer *answer, dlock_status made)
{
    if (made != DLOCK_OK) {
        answer->count++; /* no completion follows a call that failed */
        return made;
    }
    while (answer->count == 0)
        (void)task_sleep(INT64_MAX);
    return answer->st;
}

static dlock_status cancel_and_await(const struct asker *asker, struct answer *answer,
                                     uint64_t call)
{
    int64_t cancelled_ns;
    dlock_status st;

    /* The answer ends the pause, because a grant that no thread takes would lose its lease. */
    (void)task_sleep(world.now_ns + chance_skewed(1000, 200 * MS));
    workload_check("a cancel", dlock_async_cancel(asker->process->async, call));
    cancelled_ns = world.now_ns;
    st = await(answer, DLOCK_OK);
    if (world.is_calm && world.now_ns > cancelled_ns + LATE_MS * MS)
        world_condemn(ASLEEP, "an acquire went on for %d ms after it was cancelled", LATE_MS);
    return st;
}

static dlock_status acquire_once(const struct asker *asker, const char *name,
                                 const dlock_request *request, dlock_lease *lease)
{
    struct answer *answer = begin_answer(asker->process);
    bool cancels = request->cancel == NULL && request->wait_ms > 0 &&
                   request->wait_ms < 10000 && chance_one_in(6);
    uint64_t call = 0;
    dlock_status st = dlock_async_acquire(asker->process->async, name, request, asker->owner,
                                          complete, answer, &call);

    if (st == DLOCK_OK && cancels)
        st = cancel_and_await(asker, answer, call);
    else
        st = await(answer, st);
    if (st == DLOCK_CANCELLED && !cancels && request->cancel == NULL)
        world_condemn(CRASH, "an asynchronous acquire is cancelled, and nobody cancelled it");
    if (st == DLOCK_OK)
        *lease = answer->lease;
    return st;
}

/* The same as the functions of dlock.h. */
static dlock_status calls_acquire(const struct asker *asker, const char *name,
                                  const dlock_request *request, dlock_lease *lease)
{
    return asker->is_async ? acquire_once(asker, name, request, lease)
                           : dlock_acquire_with(asker->process->sys, name, request, lease);
}

static dlock_status calls_renew(const struct asker *asker, dlock_lease *lease)
{
    struct answer *answer;
    dlock_status st;

    if (!asker->is_async)
        return dlock_renew(asker->process->sys, lease);
    answer = begin_answer(asker->process);
    st = await(answer, dlock_async_renew(asker->process->async, lease, complete, answer));
    if (st == DLOCK_OK)
        *lease = answer->lease;
    return st;
}

static dlock_status calls_release(const struct asker *asker, dlock_lease *lease)
{
    struct answer *answer;

    if (!asker->is_async)
        return chance_one_in(3) ? dlock_release_later(asker->process->sys, lease)
                                : dlock_release(asker->process->sys, lease);
    answer = begin_answer(asker->process);
    return await(answer,
                 dlock_async_release(asker->process->async, lease, complete, answer));
}

static dlock_status calls_abandon(const struct asker *asker, dlock_lease *lease)
{
    struct answer *answer;

    if (!asker->is_async)
        return dlock_abandon(asker->process->sys, lease);
    answer = begin_answer(asker->process);
    return await(answer,
                 dlock_async_abandon(asker->process->async, lease, complete, answer));
}

/* ---- askers ---- */

static struct asker calls_begin(struct process *process)
{
    struct asker asker = {.process = process,
                          .is_async = process->async != NULL && !chance_one_in(4)};

    if (asker.is_async && chance_one_in(2))
        asker.owner = dlock_async_owner_new(process->async);
    return asker;
}

static void calls_end(struct asker *asker)
{
    dlock_async_owner_free(asker->owner);
    asker->owner = NULL;
}

/* May the owner acquire a name again that it holds? */
static bool calls_may_nest(const struct asker *asker)
{
    return !asker->is_async || asker->owner != NULL;
}

/* ---- the interface of a process ---- */

static void close_interface(struct process *process)
{
    workload_check("the close of an interface", dlock_async_close(process->async));
    for (int i = 0; i < answer_count; i++)
        if (answers[i].process == process && answers[i].count == 0)
            world_condemn(TWICE, "an asynchronous call was not answered before the close");
}

/* The only task that polls the interface. Chance makes it late now and then. */
static void *poll(void *arg)
{
    struct process *process = arg;

    dlock_process_enter(&process->own);
    while (process->is_polled) {
        if (dlock_poll(process->async, chance_one_in(4) ? 0 : chance_skewed(1, 50)) < 0)
            world_condemn(CRASH, "dlock_poll() fails: %s", dlock_error());
        if (chance_one_in(8))
            workload_pause_ms(world.is_calm ? 20 : 400);
        else
            task_pause(chance_between(1000, 50000));
    }
    close_interface(process);
    process->async = NULL;
    task_wake(process->main);
    return NULL;
}

/* Open and close the asynchronous interface of a process, if chance draws one. */
static void calls_open(struct process *process)
{
    dlock_status st;

    process->async = NULL;
    if (!chance_one_in(3))
        return;
    process->is_polled = chance_one_in(2);
    st = dlock_async_open(&process->async, process->sys,
                          process->is_polled ? 0 : DLOCK_ASYNC_THREAD);
    workload_check("the open of an interface", st);
    if (st == DLOCK_OK && process->is_polled &&
        (dlock_async_fd(process->async) < 0 ||
         task_begin(&process->site, poll, process) == NULL))
        world_condemn(CRASH, "an interface cannot be polled");
}

static void calls_close(struct process *process)
{
    static const dlock_request forever = {.wait_ms = -1};
    struct answer *answer;

    if (process->async == NULL)
        return;
    if (dlock_async_count(process->async) != 0)
        world_condemn(TWICE, "all asynchronous calls were answered, and some are under way");
    answer = begin_answer(process); /* a call that is under way when the interface is closed */
    if (dlock_async_acquire(process->async, workload.names[0], &forever, NULL, complete, answer,
                            NULL) != DLOCK_OK)
        answer->count++;
    if (!process->is_polled) {
        close_interface(process);
        process->async = NULL;
    }
    process->is_polled = false;
    while (process->async != NULL)
        (void)task_sleep(INT64_MAX);
}

/* ---- calls that a thread makes beside its rounds, and the checks of their answers ----
 *
 *   miscount  dlock_inspect() says that a lock is free which its caller holds; or on_lost() was
 *             called more or less often than the descriptor counts
 *   twice     the number of debts paid and given up is not the number of debts made
 *   shut      after the faults, debts were not paid within a minute
 *   crash     a call of a forked child with its parent's system was not refused */

enum { PAYS_MS = 60000 };

static const char *any_name(int *number)
{
    *number = (int)chance_between(0, workload.name_count - 1);
    return workload.names[*number];
}

/* ---- a child ---- */

static void expect_refusal(const char *call, bool is_refused)
{
    if (!is_refused)
        world_condemn(CRASH, "a child of fork() is not refused by %s of its parent's system",
                      call);
}

/* The thread goes on as the only thread of a child, calls with the system of the parent, and
 * exits. */
static void fork_child(struct process *process, const dlock_lease *held)
{
    dlock_lease lease = held != NULL ? *held : (dlock_lease){.name = "lock:a"};
    dlock_system *sys = process->sys;
    dlock_info info;

    task_held_fast++;
    task_here->site->fork_count++;
    expect_refusal("dlock_acquire()", dlock_acquire(sys, "lock:a", 0, &lease) == DLOCK_INVALID);
    expect_refusal("dlock_renew()", dlock_renew(sys, &lease) == DLOCK_INVALID);
    expect_refusal("dlock_release()", dlock_release(sys, &lease) == DLOCK_INVALID);
    expect_refusal("dlock_release_later()", dlock_release_later(sys, &lease) == DLOCK_INVALID);
    expect_refusal("dlock_abandon()", dlock_abandon(sys, &lease) == DLOCK_INVALID);
    expect_refusal("dlock_inspect()", dlock_inspect(sys, "lock:a", &info) == DLOCK_INVALID);
    expect_refusal("dlock_force_release()",
                   dlock_force_release(sys, "lock:a") == DLOCK_INVALID);
    expect_refusal("dlock_check()", dlock_check(sys) == DLOCK_INVALID);
    expect_refusal("dlock_lease_valid()", !dlock_lease_valid(sys, &lease));
    expect_refusal("dlock_lease_left_ms()", dlock_lease_left_ms(sys, &lease) == 0);
    expect_refusal("dlock_lost_fd()", dlock_lost_fd(sys) == -1);
    expect_refusal("dlock_pay_debts()", dlock_pay_debts(sys, -1) == 0);
    dlock_send_debts(sys);
    expect_refusal("dlock_async_cancel()", process->async == NULL ||
                   dlock_async_cancel(process->async, 1) == DLOCK_INVALID);
    expect_refusal("dlock_async_release()", process->async == NULL ||
                   dlock_async_release(process->async, &lease, NULL, NULL) == DLOCK_INVALID);
    expect_refusal("dlock_poll()",
                   process->async == NULL || dlock_poll(process->async, 0) == -1);
    expect_refusal("dlock_async_close()", process->async == NULL ||
                   dlock_async_close(process->async) == DLOCK_INVALID);
    dlock_close(sys);
    task_here->site->fork_count--;
    task_held_fast--;
    tell("process %d forks a child", process->site.number);
    if (chance_one_in(2))
        (void)workload_add_child(process);
}

/* ---- inspections ---- */

static void inspect(struct process *process, const dlock_lease *held)
{
    int number;
    const char *name = held != NULL ? held->name : any_name(&number);
    dlock_info info;
    dlock_status st = dlock_inspect(process->sys, name, &info);
    bool is_held = held != NULL && world.is_calm && oracle_is_valid(process, held) &&
                   !oracle_is_forced(held);

    if (st == DLOCK_UNSUPPORTED)
        return;
    workload_check("an inspection", st);
    if (st == DLOCK_OK && is_held && !info.locked)
        world_condemn(MISCOUNT, "%s is free by dlock_inspect(), and its asker holds it", name);
}

/* Free a lock by force, in calm alone: in other classes an unanswered request to free it could free
 * a later hold. Only for variants that know their owners: with the others, the release of a holder
 * whose lock was freed frees the lock of the next holder. */
static void force(struct process *process)
{
    int number;
    const char *name = any_name(&number);
    dlock_status st;

    if (!world.is_calm || workload.is_handed_over || !(workload.variant->caps & DLOCK_CAP_OWNED))
        return;
    oracle_begin_force(number);
    recording_force(true);
    st = dlock_force_release(process->sys, name);
    recording_force(false);
    oracle_end_force(number);
    if (st != DLOCK_UNSUPPORTED)
        workload_check("a release by force", st);
}

/* Sometimes make one of these calls. `held`: a valid lease of the thread; NULL: it has none. */
static void bystander_play(struct process *process, const dlock_lease *held)
{
    dlock_metrics metrics;

    int64_t drawn = chance_between(0, 40);

    if (drawn > 8 || !world_has_room(SIZE_BYSTANDERS))
        return;
    switch (drawn) {
    case 0:
    case 1:
        inspect(process, held);
        break;
    case 2:
        if (chance_one_in(4))
            force(process);
        break;
    case 3:
        workload_check("a check", dlock_check(process->sys));
        break;
    case 4:
        dlock_metrics_read(process->sys, &metrics);
        if (metrics.debts_paid + metrics.debts_given_up > metrics.debts)
            world_condemn(TWICE, "%" PRIu64 " debts were paid, and %" PRIu64 " made",
                          metrics.debts_paid, metrics.debts);
        break;
    case 5:
        fork_child(process, held);
        break;
    case 6:
    case 7:
        dlock_send_debts(process->sys);
        break;
    case 8:
        (void)dlock_pay_debts(process->sys, chance_skewed(0, 1000));
        break;
    default:
        break;
    }
}

/* ---- the end ---- */

/* After all threads of the process have ended: pay the debts, and check that the counters agree. */
static void bystander_end(struct process *process)
{
    uint64_t left = dlock_pay_debts(process->sys, PAYS_MS);
    dlock_metrics metrics;

    dlock_metrics_read(process->sys, &metrics);
    if (left > 0)
        world_condemn(SHUT, "%" PRIu64 " debts were not paid within %d s after the faults", left,
                      PAYS_MS / 1000);
    if (metrics.debts != metrics.debts_paid + metrics.debts_given_up)
        world_condemn(TWICE, "%" PRIu64 " debts were made, %" PRIu64 " paid and %" PRIu64
                      " given up", metrics.debts, metrics.debts_paid, metrics.debts_given_up);
    if (process->lost_fd >= 0 && process->has_lost_fn &&
        os_event_count(process->lost_fd) != process->lost_count)
        world_condemn(MISCOUNT, "%" PRIu64 " losses were told, and the descriptor says %" PRIu64,
                      process->lost_count, os_event_count(process->lost_fd));
}

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
