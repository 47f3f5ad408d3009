/* SPDX-License-Identifier: MIT */
/* load.c -- the background load of a scenario. */

#include "loadtest/scenario/background/load.h"

#include <errno.h>
#include <inttypes.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/os/clock.h"
#include "loadtest/bench/cell.h"
#include "loadtest/kit/interrupt.h"
#include "loadtest/kit/memory.h"
#include "loadtest/scenario/background/blame.h"
#include "loadtest/scenario/participants/process.h"
#include "loadtest/scenario/participants/process_inside.h"
#include "loadtest/scenario/result.h"
#include "loadtest/scenario/servers/wires.h"
#include "loadtest/scenario/stage.h"
#include "loadtest/scenario/variation.h"

/* ---- stalls ---- */

/* A stall breaks no assumption of a lease, so it explains no violation: a violation of the
 * background load under stalls alone is the lock's. */

struct stage;

struct stage_process;

struct stalls; /* opaque */

enum {
    STALL_MIN_MS = 5,
    STALL_MAX_MS = 60, /* a fiftieth of the background load's shortest lease          */
    GAP_MAX_MS = 80,
    LOOK_MS = 1,
    STOP_MS = 5000,   /* in which a process has to stop, or to go on                  */
    STRIKE_MS = 1000, /* in which something has to come over a wire that is held      */
    STALL_WHY_MAX = 200,
};

struct stalls {
    struct stage_process *processes;
    int count, planned; /* count: of processes                                        */
    uint64_t dice;
    struct fault_history *history;
    pthread_t thread;
    atomic_bool stop;
    int64_t made;
    char why[STALL_WHY_MAX]; /* "": nothing failed                                    */
};

static void nap_ms(int ms)
{
    usleep((useconds_t)ms * 1000);
}

static int stall_ms(struct stalls *stalls)
{
    return STALL_MIN_MS + scenario_dice(&stalls->dice, STALL_MAX_MS - STALL_MIN_MS + 1);
}

static void record(struct stalls *stalls, const struct stage_process *p,
                   dlock_fault_phase phase, const char *name)
{
    fault_history_add(stalls->history, phase, name, p->child.pid, DLOCK_ASSUMES_NONE);
}

/* ---- a process ---- */

/* False: the state did not come in time, or the process has ended. */
static bool await_stopped(struct stalls *stalls, const struct stage_process *p, bool is_so)
{
    int64_t by_ns = dlock_clock_after(dlock_clock_ns(), STOP_MS);
    char state;

    while (state = child_state(&p->child), state != 0 && (state == 'T') != is_so &&
                                               dlock_clock_ns() < by_ns)
        nap_ms(LOOK_MS);
    if (state != 0 && (state == 'T') == is_so)
        return true;
    snprintf(stalls->why, sizeof stalls->why, "the process of %s %s", p->part.name,
             state == 0 ? "has gone"
             : is_so    ? "does not stop"
                        : "does not go on");
    return false;
}

/* The process is continued however this ends. */
static bool stop_process(struct stalls *stalls, const struct stage_process *p)
{
    static const char name[] = "short-stop";
    bool stopped;

    record(stalls, p, DLOCK_FAULT_HAS_BEGUN, name);
    child_signal(&p->child, SIGSTOP);
    stopped = await_stopped(stalls, p, true);
    if (stopped)
        nap_ms(stall_ms(stalls));
    child_signal(&p->child, SIGCONT);
    if (!stopped || !await_stopped(stalls, p, false))
        return false;
    record(stalls, p, DLOCK_FAULT_HAS_ENDED, name);
    stalls->made++;
    return true;
}

/* ---- a wire ---- */

/* Hold one connection of the process.  Only one server is cut off at a time, so a majority
 * of several servers can be reached. */
static bool hold_wire(struct stalls *stalls, const struct stage_process *p)
{
    const struct stage_wire *wire =
        &p->lock_wires[scenario_dice(&stalls->dice, p->lock_wire_count)];
    const char *hold =
        scenario_dice(&stalls->dice, 2) == 0 ? "hold to-server" : "hold to-client";
    char name[64], why[PROXY_WHY_MAX];
    int fault;

    snprintf(name, sizeof name, "short-hold %s", wire->server);
    record(stalls, p, DLOCK_FAULT_HAS_BEGUN, name);
    fault = proxy_arm(wire->proxy, hold, why);
    if (fault < 0) {
        snprintf(stalls->why, sizeof stalls->why, "the wire of %s: %.120s", p->part.name,
                 why);
        return false;
    }
    if (proxy_wait(wire->proxy, fault, STRIKE_MS)) {
        nap_ms(stall_ms(stalls));
        stalls->made++;
    }
    proxy_disarm(wire->proxy, fault);
    record(stalls, p, DLOCK_FAULT_HAS_ENDED, name);
    return true;
}

/* ---- all stalls of a performance ---- */

static bool stall_once(struct stalls *stalls)
{
    const struct stage_process *p =
        &stalls->processes[scenario_dice(&stalls->dice, stalls->count)];
    bool has_wires = p->lock_wire_count > 0;

    nap_ms(scenario_dice(&stalls->dice, GAP_MAX_MS + 1));
    return has_wires && scenario_dice(&stalls->dice, 2) == 0 ? hold_wire(stalls, p)
                                                             : stop_process(stalls, p);
}

static void *stall_all(void *arg)
{
    struct stalls *stalls = arg;

    for (int i = 0; i < stalls->planned && !atomic_load(&stalls->stop); i++)
        if (!stall_once(stalls))
            break;
    return NULL;
}

/* Start a thread that makes the stalls of the stage's variation, one after another.  The `count`
 * processes and their wires must exist until stalls_end(), and no other code may stop them.  The
 * stalls are recorded in `records`, beside the processes' calls.  NULL: the reason is on stderr. */
static struct stalls *stalls_begin(const struct stage *s, struct stage_process *processes,
                                   int count, const char *records)
{
    struct stalls *stalls = memory_need(calloc(1, sizeof *stalls));

    stalls->processes = processes;
    stalls->count = count;
    stalls->planned = s->vary.stalls;
    stalls->dice = ~s->vary.number;
    stalls->history = fault_history_open(records);
    if (stalls->history == NULL)
        goto out;
    if (pthread_create(&stalls->thread, NULL, stall_all, stalls) == 0)
        return stalls;
    eprintf("seckill: no thread for the stalls of a background load\n");
    fault_history_close(stalls->history);
out:
    free(stalls);
    return NULL;
}

/* Wait for the end of the last stall, or, if `early`, of the present one.  No process is stopped
 * and no wire is held afterwards.  Answers the number of stalls; a stall of a wire counts if the
 * wire held bytes.  NULL: 0.  -1: a stall failed, and why (`size` bytes) has the reason. */
static int64_t stalls_end(struct stalls *stalls, bool early, char *why, size_t size)
{
    int64_t made;

    if (stalls == NULL)
        return 0;
    if (early)
        atomic_store(&stalls->stop, true);
    pthread_join(stalls->thread, NULL);
    if (!fault_history_close(stalls->history) && stalls->why[0] == '\0')
        snprintf(stalls->why, sizeof stalls->why, "the records of the stalls have holes");
    made = stalls->why[0] == '\0' ? stalls->made : -1;
    if (made < 0)
        snprintf(why, size, "%s", stalls->why);
    free(stalls);
    return made;
}

enum {
    ENOUGH_HOLDS = 120, /* of each background load                                    */
    AFTER_MS = 3000,    /* how long the load may go on after the story to reach them */
    POLL_MS = 5,
    REST_AFTER_FAILURE_US = 20000,
    STORE_TIMEOUT_MS = 5000, /* of one request; each ends soon after the story */
    ERROR_MAX = 200,
    LATER_ONE_IN = 4, /* one of so many releases is by dlock_release_later()          */
};

/* In memory that the processes of the background load share with the process of play(). */
struct score {
    atomic_int warm; /* threads that have held a lock                                 */
    atomic_llong holds, failures;
    atomic_bool is_said;
    char error[ERROR_MAX]; /* the first failure                                       */
};

struct background {
    struct score *score;
    struct stage_process processes[BACKGROUND_PROCESSES_MAX];
    int count;
    char records[FILES_PATH_MAX];
    bool has_ended;
    struct stalls *stalls; /* NULL: not begun, or over                                */
    int64_t stall_count;   /* -1: a stall failed, for this reason */
    char stall_why[ERROR_MAX];
    uint64_t delays; /* that its wires have begun                                     */
};

/* ---- in a process of the background load ---- */

struct background_process {
    struct stage *stage;
    int process;
    dlock_system *sys;
    atomic_bool stop;
};

struct member {
    struct background_process *background_process;
    int thread;
    pthread_t handle;
    uint64_t dice;
};

static void count_failure(struct score *score)
{
    bool was_said = false;

    atomic_fetch_add(&score->failures, 1);
    if (atomic_compare_exchange_strong(&score->is_said, &was_said, true))
        snprintf(score->error, sizeof score->error, "%s", dlock_error());
}

static void nap_us(int us)
{
    if (us > 0)
        usleep((useconds_t)us);
}

/* Acquire a lock, hold it for a while, release it.  False: the store did not answer. */
static bool hold_once(struct member *m, bool *was_held)
{
    struct stage *s = m->background_process->stage;
    const struct scenario_variation *vary = &s->vary;
    unsigned caps = s->setup->lock->caps;
    dlock_request request = {
        .wait_ms = vary->wait_ms,
        .shared = (caps & DLOCK_CAP_SHARED) && scenario_dice(&m->dice, 4) == 0};
    dlock_lease lease = {0};
    char name[DLOCK_NAME_MAX + 1];
    dlock_status st;

    snprintf(name, sizeof name, "%.150s:background:%d", s->lock,
             background_name(vary, caps, m->background_process->process, m->thread, &m->dice));
    st = dlock_acquire_with(m->background_process->sys, name, &request, &lease);
    *was_held = st == DLOCK_OK;
    if (dlock_is_failure(st))
        return false;
    if (st != DLOCK_OK)
        return true;
    nap_us(scenario_dice(&m->dice, vary->hold_us + 1));
    st = scenario_dice(&m->dice, LATER_ONE_IN) == 0
             ? dlock_release_later(m->background_process->sys, &lease)
             : dlock_release(m->background_process->sys, &lease);
    return !dlock_is_failure(st);
}

static void *member_run(void *arg)
{
    struct member *m = arg;
    struct stage *s = m->background_process->stage;
    struct score *score = s->background->score;
    bool is_warm = false;

    while (!atomic_load(&m->background_process->stop)) {
        bool was_held = false, was_answered = hold_once(m, &was_held);

        atomic_fetch_add(&score->holds, was_held);
        if (was_held && !is_warm)
            atomic_fetch_add(&score->warm, 1);
        is_warm |= was_held;
        if (!was_answered)
            count_failure(score);
        nap_us(was_answered ? scenario_dice(&m->dice, s->vary.rest_us + 1)
                            : REST_AFTER_FAILURE_US);
    }
    return NULL;
}

static void run_members(struct background_process *background_process, int fd)
{
    struct stage *s = background_process->stage;
    struct member members[BACKGROUND_THREADS_MAX];
    struct actor_order order;
    ssize_t n;

    for (int i = 0; i < s->vary.threads; i++) {
        members[i] = (struct member){.background_process = background_process,
                                     .thread = i,
                                     .dice = s->vary.number +
                                             (uint64_t)(background_process->process * 100 + i)};
        if (pthread_create(&members[i].handle, NULL, member_run, &members[i]) != 0)
            _exit(EXIT_FAILURE);
    }
    do /* every order means: end */
        n = recv(fd, &order, sizeof order, 0);
    while (n < 0 && errno == EINTR);
    atomic_store(&background_process->stop, true);
    for (int i = 0; i < s->vary.threads; i++)
        pthread_join(members[i].handle, NULL);
}

/* The main function of one process of the background load. */
static void run_process(struct stage *s, struct stage_process *p, int fd)
{
    struct background_process background_process = {
        .stage = s, .process = (int)(p - s->background->processes)};

    if (actor_open(&background_process.sys, &p->part) != DLOCK_OK) {
        count_failure(s->background->score);
        _exit(EXIT_FAILURE);
    }
    run_members(&background_process, fd);
    dlock_close(background_process.sys);
    _exit(EXIT_SUCCESS);
}

/* ---- in the process of play() ---- */

void background_fork(struct stage *s)
{
    struct background *background;

    if (!s->vary.is_varied)
        return;
    background = s->background = memory_need(calloc(1, sizeof *background));
    background->score = cell_share(sizeof *background->score);
    files_join(background->records, s->dir, "crowd");
    for (int i = 0; i < s->vary.processes; i++) {
        struct stage_process *p = &background->processes[i];
        struct actor_part *part = &p->part;

        p->body = run_process;
        *part = s->processes[0].part;
        snprintf(part->name, sizeof part->name, "background %d", i + 1);
        part->record_dir = background->records;
        part->lease_ms = s->vary.lease_ms;
        part->store_timeout_ms = STORE_TIMEOUT_MS;
        stage_fork(s, p);
        background->count++;
    }
}

static void open_process(struct stage *s, struct stage_process *p)
{
    char fault[64], why[PROXY_WHY_MAX];

    stage_open_wires(s, p, STAGE_NOBODY);
    snprintf(fault, sizeof fault, "delay:%dms %s", s->vary.delay_ms,
             s->vary.delays_answers ? "to-client" : "to-server");
    for (int i = 0; i < p->lock_wire_count && s->vary.delay_ms > 0; i++) {
        struct stage_wire *wire = &p->lock_wires[i];

        wire->last_fault = proxy_arm(wire->proxy, fault, why);
        if (wire->last_fault < 0)
            stage_fail(s, "a wire of the background load: %s", why);
    }
    if (send(p->fd, &p->part, sizeof p->part, MSG_NOSIGNAL) < 0)
        stage_fail(s, "the process of the background load has gone");
    p->is_open = true;
}

void background_open(struct stage *s)
{
    int64_t by_ns = dlock_clock_after(dlock_clock_ns(), SCENARIO_STEP_MS);
    struct background *background = s->background;

    if (background == NULL)
        return;
    for (int i = 0; i < background->count; i++)
        open_process(s, &background->processes[i]);
    while (atomic_load(&background->score->warm) < s->vary.processes * s->vary.threads)
        if (dlock_clock_ns() >= by_ns || !interrupt_sleep_ms(POLL_MS))
            stage_need_in_time(s, false, background->score->error[0] != '\0'
                                             ? background->score->error
                                             : "the background load was to begin");
    background->stalls = stalls_begin(s, background->processes, background->count,
                                      background->records);
    stage_need(s, background->stalls != NULL, "the stalls of the background load cannot be made");
}

static void await_enough(struct stage *s)
{
    int64_t by_ns = dlock_clock_after(dlock_clock_ns(), AFTER_MS);

    while (atomic_load(&s->background->score->holds) < ENOUGH_HOLDS &&
           dlock_clock_ns() < by_ns && interrupt_sleep_ms(POLL_MS))
        ;
}

static void count_delays(struct background *background, const struct stage_process *p)
{
    struct proxy_strike strike;

    for (int i = 0; i < p->lock_wire_count; i++)
        if (proxy_look(p->lock_wires[i].proxy, p->lock_wires[i].last_fault, &strike))
            background->delays += strike.strikes;
}

void background_end(struct stage *s)
{
    struct background *background = s->background;

    if (background == NULL || background->has_ended)
        return;
    background->has_ended = true;
    background->stall_count = stalls_end(background->stalls, s->result->rc != EXIT_VALID,
                                    background->stall_why, sizeof background->stall_why);
    if (s->result->rc == EXIT_VALID)
        await_enough(s);
    for (int i = 0; i < background->count; i++) {
        process_end(&background->processes[i], false);
        count_delays(background, &background->processes[i]);
        stage_close_wires(&background->processes[i]);
    }
}

/* Did calls fail although no fault of a server was injected? */
static bool has_failed_alone(const struct stage *s)
{
    return !scenario_has_own_servers(s->setup->scenario) &&
           atomic_load(&s->background->score->failures) > 0;
}

static void judge(struct stage *s, const struct history *h,
                  const struct check_verdict *verdict)
{
    struct scenario_result *r = s->result;
    char *why = r->background_why;

    r->background_blame = background_blame_of(h, verdict, s->setup->lock->caps, why,
                                    sizeof r->background_why);
    if (r->background_blame == BACKGROUND_CLEAN && has_failed_alone(s)) {
        r->background_blame = BACKGROUND_MACHINE;
        snprintf(why, sizeof r->background_why, "a call of the background load failed: %s",
                 s->background->score->error);
    }
}

bool background_check(struct stage *s)
{
    struct check_options options = check_options_default();
    struct scenario_result *r = s->result;
    struct check_verdict verdict;
    struct history h = {0};
    struct check *check;

    if (s->background == NULL)
        return true;
    if (!history_read(&h, s->background->records)) {
        snprintf(r->why, sizeof r->why, "the records of the background load cannot be read");
        return false;
    }
    background_add_faults(&h, &s->history);
    check = check_new();
    check_judge(check, &h, &options, &verdict);
    judge(s, &h, &verdict);
    r->background_holds = verdict.holds;
    r->background_failures = atomic_load(&s->background->score->failures);
    r->delays = (int64_t)s->background->delays;
    r->stalls = s->background->stall_count;
    if (s->background->stall_count < 0)
        snprintf(r->why, sizeof r->why, "%s", s->background->stall_why);
    else if (h.damage_count > 0)
        snprintf(r->why, sizeof r->why, "the records of the background load have holes: %s",
                 h.damages[0]);
    check_free(check);
    history_free(&h);
    return r->why[0] == '\0';
}

void background_free(struct stage *s)
{
    if (s->background == NULL)
        return;
    cell_unshare(s->background->score, sizeof *s->background->score);
    free(s->background);
    s->background = NULL;
}
