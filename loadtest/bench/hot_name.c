/* SPDX-License-Identifier: MIT */
/* hot_name.c -- many threads of several processes that all want one lock. */
#include "loadtest/bench/hot_name.h"

#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <time.h>

#include "base/text/duration.h"
#include "loadtest/bench/cell.h"
#include "loadtest/bench/store_probe.h"
#include "loadtest/kit/interrupt.h"
#include "loadtest/kit/spread.h"
#include "loadtest/kit/thread_group.h"

#define NAME "bench:hot"

enum {
    HAND_OVERS_MAX = 1 << 18, /* later hand-overs are not kept                      */
    TRIPS_MAX = 1 << 16,
    CALM_TRIPS = 200,
    TRIP_PAUSE_US = 1000, /* so that the round trips add no load                    */
    READY_MS = 20000,
    TICK_MS = 2,
};

struct contender {
    int64_t grants;
    int64_t longest_wait_ns;
};

/* Shared by all processes.  A field without an atomic type is written by the holder, by the
 * prober, or by its own thread only. */
struct arena {
    atomic_int ready; /* contenders, and the prober                                 */
    atomic_bool go, stop, failed;
    atomic_int inside;
    atomic_int overlaps;
    atomic_int holder;         /* the last one, from 1; 0: none yet                 */
    atomic_llong release_ns;   /* when it began to give the lock back               */
    atomic_int grants, handed_over, hand_over_count;
    atomic_int calm_count, busy_count;
    struct contender contenders[HOT_CONTENDERS];
    double hand_over_us[HAND_OVERS_MAX];
    double calm_us[TRIPS_MAX], busy_us[TRIPS_MAX];
};

struct plan {
    const struct bench_locks *b;
    const char *variant;
    int handover;
    int process;
};

struct process {
    const struct plan *plan;
    struct arena *arena;
    dlock_system *sys;
};

static void nap(void)
{
    nanosleep(&(struct timespec){.tv_nsec = TRIP_PAUSE_US * 1000}, NULL);
}

/* Between a grant and its release. */
static void be_inside(struct arena *arena, int me)
{
    int64_t now_ns = monotonic_ns();
    int before = atomic_load(&arena->holder);

    if (atomic_fetch_add(&arena->inside, 1) != 0)
        atomic_fetch_add(&arena->overlaps, 1);
    if (!atomic_load(&arena->stop)) {
        arena->contenders[me].grants++;
        atomic_fetch_add(&arena->grants, 1);
        if (before != 0 && before != me + 1) {
            int n = atomic_fetch_add(&arena->handed_over, 1);

            if (n < HAND_OVERS_MAX) {
                arena->hand_over_us[n] =
                    (double)(now_ns - atomic_load(&arena->release_ns)) / 1000;
                atomic_store(&arena->hand_over_count, n + 1);
            }
        }
    }
    atomic_store(&arena->holder, me + 1);
    atomic_fetch_sub(&arena->inside, 1);
    atomic_store(&arena->release_ns, monotonic_ns());
}

/* Connect before the contest begins. */
static enum thread_group_answer warm_up(const struct process *process, int me)
{
    char name[32];

    snprintf(name, sizeof name, NAME ":%d", me);
    return bench_pair(process->sys, process->plan->variant, name, dlock_release);
}

/* Take turns until the end of the contest.  Each thread then completes its last turn, so that
 * no wait is cut short. */
static enum thread_group_answer contend(void *arg, int index)
{
    struct process *process = arg;
    struct arena *arena = process->arena;
    const char *variant = process->plan->variant;
    int me = process->plan->process * HOT_THREADS + index;
    struct contender *mine = &arena->contenders[me];

    if (warm_up(process, me) != THREAD_GROUP_DONE)
        return THREAD_GROUP_FAILED;
    atomic_fetch_add(&arena->ready, 1);
    while (!atomic_load(&arena->go))
        nap();
    while (!atomic_load(&arena->stop) && !atomic_load(&arena->failed)) {
        int64_t begin_ns = monotonic_ns(), wait_ns;
        dlock_lease lease;
        dlock_status st = dlock_acquire(process->sys, NAME, -1, &lease);

        if (st != DLOCK_OK) {
            bench_complain(variant, "acquire", st);
            return THREAD_GROUP_FAILED;
        }
        wait_ns = monotonic_ns() - begin_ns;
        if (wait_ns > mine->longest_wait_ns)
            mine->longest_wait_ns = wait_ns;
        be_inside(arena, me);
        st = dlock_release(process->sys, &lease);
        if (st != DLOCK_OK) {
            bench_complain(variant, "release", st);
            return THREAD_GROUP_FAILED;
        }
    }
    return THREAD_GROUP_DONE;
}

static enum exit_code contender_cell(const void *arg, void *shared)
{
    const struct plan *plan = arg;
    struct arena *arena = shared;
    struct process process = {.plan = plan, .arena = arena};
    struct thread_group group = {HOT_THREADS, contend, &process};

    if (bench_open_handed(plan->b, plan->variant, plan->handover, &process.sys) &&
        thread_group_repeat(&group, HOT_THREADS)) {
        dlock_close(process.sys);
        return EXIT_VALID;
    }
    atomic_store(&arena->failed, true);
    return EXIT_UNAVAILABLE;
}

static bool probe(struct store_probe *store, double *values, atomic_int *count)
{
    int n = atomic_load(count);
    int64_t ns = store_probe_trip_ns(store);

    if (ns >= 0 && n < TRIPS_MAX) {
        values[n] = (double)ns / 1000;
        atomic_store(count, n + 1);
    }
    nap();
    return ns >= 0;
}

/* Measure round trips before the contest, when all threads are connected, and during it. */
static enum exit_code probe_cell(const void *arg, void *shared)
{
    const struct plan *plan = arg;
    struct arena *arena = shared;
    struct store_probe *store = store_probe_open(plan->b, plan->variant);
    bool ok = store != NULL;

    while (ok && atomic_load(&arena->ready) < HOT_CONTENDERS)
        nap();
    for (int i = 0; ok && i < CALM_TRIPS; i++)
        ok = probe(store, arena->calm_us, &arena->calm_count);
    if (ok)
        atomic_fetch_add(&arena->ready, 1);
    while (ok && !atomic_load(&arena->go))
        nap();
    while (ok && !atomic_load(&arena->stop))
        ok = probe(store, arena->busy_us, &arena->busy_count);
    store_probe_close(store);
    if (!ok)
        atomic_store(&arena->failed, true);
    return ok ? EXIT_VALID : EXIT_UNAVAILABLE;
}

/* Let the contest begin once all are ready, and end after `duration_ms`. */
static double direct(struct arena *arena, int64_t duration_ms)
{
    int64_t begin_ns = monotonic_ns();
    int64_t until_ns = begin_ns + READY_MS * 1000000LL;

    while (atomic_load(&arena->ready) < HOT_CONTENDERS + 1 &&
           !atomic_load(&arena->failed) && monotonic_ns() < until_ns &&
           interrupt_sleep_ms(TICK_MS))
        ;
    begin_ns = monotonic_ns();
    until_ns = begin_ns + duration_ms * 1000000;
    atomic_store(&arena->go, true);
    while (monotonic_ns() < until_ns && !atomic_load(&arena->failed) &&
           interrupt_sleep_ms(TICK_MS))
        ;
    atomic_store(&arena->stop, true);
    return (double)(monotonic_ns() - begin_ns) / 1e9;
}

static double median_of(double *values, atomic_int *count)
{
    int n = atomic_load(count);

    return n > 0 ? spread_of(values, (size_t)n).median : 0;
}

/* The share_ratio of struct hot_figures. */
static double share_ratio(const struct arena *arena)
{
    int64_t of[HOT_PROCESSES] = {0}, least = INT64_MAX, most = 0;

    for (int i = 0; i < HOT_CONTENDERS; i++)
        of[i / HOT_THREADS] += arena->contenders[i].grants;
    for (int i = 0; i < HOT_PROCESSES; i++) {
        least = of[i] < least ? of[i] : least;
        most = of[i] > most ? of[i] : most;
    }
    return least > 0 ? (double)most / (double)least : 0;
}

static void sum_up(struct arena *arena, double seconds, struct hot_figures *out)
{
    int64_t longest_ns = 0, least = INT64_MAX, most = 0;
    int grants = atomic_load(&arena->grants);

    for (int i = 0; i < HOT_CONTENDERS; i++) {
        const struct contender *c = &arena->contenders[i];

        longest_ns = c->longest_wait_ns > longest_ns ? c->longest_wait_ns : longest_ns;
        least = c->grants < least ? c->grants : least;
        most = c->grants > most ? c->grants : most;
    }
    *out = (struct hot_figures){
        .grants_per_s = grants / seconds,
        .longest_wait_ms = (double)longest_ns / 1e6,
        .handed_over_percent =
            grants > 0 ? 100.0 * atomic_load(&arena->handed_over) / grants : 0,
        .hand_over_us = median_of(arena->hand_over_us, &arena->hand_over_count),
        .calm_trip_us = median_of(arena->calm_us, &arena->calm_count),
        .busy_trip_us = median_of(arena->busy_us, &arena->busy_count),
        .fewest_grants = (double)least,
        .most_grants = (double)most,
        .share_ratio = share_ratio(arena),
    };
    if (out->busy_trip_us > 0)
        out->hand_over_trips = out->hand_over_us / out->busy_trip_us;
    if (out->calm_trip_us > 0)
        out->hand_over_calm_trips = out->hand_over_us / out->calm_trip_us;
}

static enum exit_code worse(enum exit_code a, enum exit_code b)
{
    return a > b ? a : b;
}

enum exit_code hot_name_measure(const struct bench_locks *b, const char *variant,
                                int handover, struct hot_figures *out)
{
    struct arena *arena = cell_share(sizeof *arena);
    struct child children[HOT_PROCESSES + 1] = {{0}};
    struct plan plans[HOT_PROCESSES + 1];
    int64_t limit_ms = bench_limit_ms(b->duration_ms);
    enum exit_code rc = EXIT_VALID;
    double seconds;

    for (int i = 0; i <= HOT_PROCESSES && rc == EXIT_VALID; i++) {
        plans[i] = (struct plan){b, variant, handover, i};
        if (!cell_start(&children[i], i < HOT_PROCESSES ? contender_cell : probe_cell,
                        &plans[i], arena))
            rc = EXIT_BUG;
    }
    if (rc != EXIT_VALID)
        atomic_store(&arena->failed, true);
    seconds = direct(arena, b->duration_ms);
    for (int i = 0; i <= HOT_PROCESSES; i++) {
        if (children[i].pid > 0)
            rc = worse(rc, cell_wait(&children[i], limit_ms, variant));
    }
    if (atomic_load(&arena->overlaps) > 0) {
        eprintf("seckill bench-locks: %s: two inside at once, %d times\n",
                variant, atomic_load(&arena->overlaps));
        rc = worse(rc, EXIT_INVALID);
    }
    if (rc == EXIT_VALID)
        sum_up(arena, seconds, out);
    cell_unshare(arena, sizeof *arena);
    return rc;
}
