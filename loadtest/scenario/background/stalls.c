/* SPDX-License-Identifier: MIT */
/* stalls.c -- short stops of processes and connections of the background load, one at a
 * time. */
#include "loadtest/scenario/background/stalls.h"

#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/os/clock.h"
#include "loadtest/kit/memory.h"
#include "loadtest/scenario/stage.h"
#include "loadtest/scenario/variation.h"

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

struct stalls *stalls_begin(const struct stage *s, struct stage_process *processes,
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
    fprintf(stderr, "seckill: no thread for the stalls of a background load\n");
    fault_history_close(stalls->history);
out:
    free(stalls);
    return NULL;
}

int64_t stalls_end(struct stalls *stalls, bool early, char *why, size_t size)
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
