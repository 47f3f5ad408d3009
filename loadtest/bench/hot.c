/* SPDX-License-Identifier: MIT */
/* hot.c -- one hot name: grants, waits and hand-overs.
 *
 * A hand-over is the time from a release to the next grant: the release goes to the store, the
 * store wakes a waiter, and the waiter's request goes to the store and back.  The table gives
 * this time in round trips to the same store, measured during the contest.  A hand-over and a
 * round trip share the processors with the same threads, so their ratio counts the steps and
 * does not depend on how busy the machine is.  A second column has the ratio to a round trip
 * on an idle machine. */
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/text/duration.h"
#include "loadtest/bench/cell.h"
#include "loadtest/bench/locks.h"
#include "loadtest/kit/interrupt.h"
#include "loadtest/kit/spread.h"
#include "loadtest/kit/thread_group.h"
#include "loadtest/probe/blocking.h"

/* ---- the round trip to a lock's store ---- */

/* A connection to the store.  One of the three is not NULL. */
struct store_probe {
    struct blocking *redis;
    lab_db *database;
    dlock_system *other;
    const char *variant;
};

static enum dlock_store store_of(const char *variant)
{
    return dlock_store_of(dlock_variant_find(variant));
}

/* The name of that smallest request, such as "PING". */
static const char *store_probe_question(const char *variant)
{
    const char *question = dlock_store_row(store_of(variant))->question;

    return question ? question : "dlock_check()";
}

static bool open_database(const struct bench_locks *b, lab_db **out)
{
    char url[256], error[512];

    lab_database_url(b->lab, url, sizeof url);
    if (lab_db_open(out, url, error, sizeof error))
        return true;
    eprintf("seckill bench-locks: %s\n", error);
    return false;
}

/* NULL is fine. */
static void store_probe_close(struct store_probe *probe)
{
    if (!probe)
        return;
    blocking_close(probe->redis);
    lab_db_close(probe->database);
    dlock_close(probe->other);
    free(probe);
}

/* Connect to the store of `variant`: to all its servers, if there are several.  NULL: the
 * connection failed. */
static struct store_probe *store_probe_open(const struct bench_locks *b, const char *variant)
{
    struct store_probe *probe = calloc(1, sizeof *probe);
    enum dlock_store store = store_of(variant);
    bool ok;

    if (!probe)
        abort();
    probe->variant = variant;
    if (store == DLOCK_STORE_REDIS || store == DLOCK_STORE_REDIS_NODES)
        ok = (probe->redis = blocking_open(b->lab, lab_store_role(store))) != NULL;
    else if (store == DLOCK_STORE_POSTGRES)
        ok = open_database(b, &probe->database);
    else
        ok = bench_open(b, variant, &probe->other);
    if (ok)
        return probe;
    store_probe_close(probe);
    return NULL;
}

static bool ask_other(struct store_probe *probe)
{
    dlock_status st = dlock_check(probe->other);

    return st == DLOCK_OK || bench_complain(probe->variant, "check", st);
}

static bool ask_database(struct store_probe *probe)
{
    if (lab_db_run(probe->database, "SELECT 1"))
        return true;
    eprintf("seckill bench-locks: %s\n", lab_db_error(probe->database));
    return false;
}

/* The duration of the smallest request, the unit in which hand-overs are counted: PING
 * over a blocking connection for Redis, SELECT 1 for PostgreSQL, and for any other
 * store what dlock_check() asks it.  -1: failed. */
static int64_t store_probe_trip_ns(struct store_probe *probe)
{
    int64_t begin_ns = monotonic_ns();
    bool ok;

    if (probe->redis)
        return blocking_ping_ns(probe->redis);
    ok = probe->database ? ask_database(probe) : ask_other(probe);
    return ok ? monotonic_ns() - begin_ns : -1;
}

enum { HOT_PROCESSES = 2, HOT_THREADS = 32 };
enum { HOT_CONTENDERS = HOT_PROCESSES * HOT_THREADS };

struct hot_figures {
    double grants_per_s;
    double longest_wait_ms;    /* waits that were under way at the end count, too   */
    double handed_over_percent; /* grants to another thread than the last holder's  */
    double hand_over_us;       /* median, of those; 0 if there was none             */
    double calm_trip_us;       /* median round trip while all threads are idle      */
    double busy_trip_us;       /* the same while they contend                       */
    double hand_over_trips;    /* hand_over_us in busy round trips                  */
    double hand_over_calm_trips;
    double fewest_grants, most_grants; /* of one thread                             */
    double share_ratio;        /* the grants of the process with more grants, divided by those
                                * of the other process; 0: the other had none       */
};

/* Measure one contest, for b->duration_ms.  A lock may be handed over `handover` times in a row
 * inside a process.  EXIT_INVALID: two threads held the lock at once. */
enum exit_code hot_name_measure(const struct bench_locks *b, const char *variant,
                                int handover, struct hot_figures *out);

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

#define TRIPS_TARGET 3.0

/* Targets of a lock with handover, as ratios to the same lock without. */
#define HANDED_RATIO_TARGET 15.0
#define HANDED_GRANTS_TARGET 100000.0
#define HANDED_SHARE_TARGET 1.5
enum { HANDED_JUDGED = 64 };

/* In each of these locks the release wakes a waiter, by a message, a watch or the database's
 * own queue, so the hand-over has a target.  The waiters of the other locks poll. */
static const struct contest {
    const char *variant;
    int handover;     /* see dlock_options  */
    const char *name; /* in the table       */
} contests[] = {
    {"reentrant", 0, "reentrant"},
    {"fair", 0, "fair"},
    {"fair", 16, "fair, 16"},
    {"fair", 64, "fair, 64"},
    {"zk-seq", 0, "zk-seq"},
    {"etcd", 0, "etcd"},
    {"pg-advisory", 0, "pg-advisory"},
};

enum { CONTEST_COUNT = sizeof contests / sizeof contests[0] };

/* Every figure, under its name in the JSON. */
#define FIGURES(X)                                                                     \
    X(grants_per_s)                                                                    \
    X(longest_wait_ms)                                                                 \
    X(handed_over_percent)                                                             \
    X(hand_over_us)                                                                    \
    X(calm_trip_us)                                                                    \
    X(busy_trip_us)                                                                    \
    X(hand_over_trips)                                                                 \
    X(hand_over_calm_trips)                                                            \
    X(fewest_grants)                                                                   \
    X(most_grants)                                                                     \
    X(share_ratio)

struct summary {
#define X(name) struct spread name;
    FIGURES(X)
#undef X
};

static struct summary summarize(const struct hot_figures *rounds, int count)
{
    struct summary summary;
    double values[BENCH_ROUNDS_MAX];

#define X(name)                                                                        \
    for (int i = 0; i < count; i++)                                                    \
        values[i] = rounds[i].name;                                                    \
    summary.name = spread_of(values, (size_t)count);
    FIGURES(X)
#undef X
    return summary;
}

static json_t *summary_json(const struct contest *contest,
                            const struct summary *summary)
{
    json_t *row = json_pack("{s:s, s:i, s:s}", "lock", contest->variant, "handover",
                            contest->handover, "round_trip",
                            store_probe_question(contest->variant));

#define X(name) json_object_set_new(row, #name, spread_json(summary->name));
    FIGURES(X)
#undef X
    return row;
}

static void print_contest(struct bench_locks *b, const struct contest *contest,
                          const struct hot_figures *rounds, json_t *list)
{
    struct summary s = summarize(rounds, b->rounds);
    /* A contest without any hand-over has not reached the target. */
    bool reached =
        s.hand_over_trips.least > 0 && s.hand_over_trips.median <= TRIPS_TARGET;
    json_t *row = summary_json(contest, &s);

    fprintf(b->tables,
            "%-11s %7.0f %8.0f %4.0f%% %8.0f %5.0f %6.1f (%.1f - %.1f) %6.1f %6.0f "
            "%6.0f %5.2f  %.1f %s\n",
            contest->name, s.grants_per_s.median, s.longest_wait_ms.most,
            s.handed_over_percent.median, s.hand_over_us.median, s.busy_trip_us.median,
            s.hand_over_trips.median, s.hand_over_trips.least, s.hand_over_trips.most,
            s.hand_over_calm_trips.median, s.fewest_grants.median,
            s.most_grants.median, s.share_ratio.median, TRIPS_TARGET, bench_judge(b, reached));
    json_object_set_new(row, "target", json_real(TRIPS_TARGET));
    json_object_set_new(row, "reached", json_boolean(reached));
    json_array_append_new(list, row);
}

static void print_head(struct bench_locks *b)
{
    fprintf(b->tables,
            "\nOne hot name, %d processes of %d threads, nothing done inside.  Wait: "
            "the longest of all\n(ms).  Other: grants to another thread than the last "
            "holder's; only those are hand-overs\n(us).  Trip: a round trip during the "
            "contest (us); calm: the hand-over in round trips of\nan idle machine.  "
            "Grants per thread: fewest and most; share: of the process with\nmore, to the "
            "other's.  A number beside a lock: so often it may be handed over inside a "
            "process.\n\n"
            "%-11s %7s %8s %5s %8s %5s %6s %13s %6s %6s %6s %5s  %s\n",
            HOT_PROCESSES, HOT_THREADS, "lock", "grant/s", "wait", "other", "handover",
            "trip", "trips", "", "calm", "fewest", "most", "share", "target");
}

/* The index of the contest; -1: there is none of that name. */
static int find_contest(const char *variant, int handover)
{
    for (int i = 0; i < CONTEST_COUNT; i++)
        if (strcmp(contests[i].variant, variant) == 0 && contests[i].handover == handover)
            return i;
    return -1;
}

/* Compare the lock with handover=HANDED_JUDGED with the same lock without handover. */
static void print_handed(struct bench_locks *b,
                         struct hot_figures (*figures)[BENCH_ROUNDS_MAX])
{
    const struct hot_figures *handed = figures[find_contest("fair", HANDED_JUDGED)];
    const struct hot_figures *alone = figures[find_contest("fair", 0)];
    struct summary s = summarize(handed, b->rounds), beside = summarize(alone, b->rounds);
    double ratios[BENCH_ROUNDS_MAX];
    struct spread ratio;
    const char *verdicts[4];

    for (int i = 0; i < b->rounds; i++)
        ratios[i] = alone[i].grants_per_s > 0 ? handed[i].grants_per_s / alone[i].grants_per_s
                                              : 0;
    ratio = spread_of(ratios, (size_t)b->rounds);
    verdicts[0] = bench_judge(b, ratio.median >= HANDED_RATIO_TARGET);
    verdicts[1] = bench_judge(b, s.grants_per_s.median >= HANDED_GRANTS_TARGET);
    verdicts[2] = bench_judge(b, s.longest_wait_ms.most <= beside.longest_wait_ms.most);
    verdicts[3] = bench_judge(b, s.share_ratio.median > 0 &&
                                     s.share_ratio.median <= HANDED_SHARE_TARGET);
    fprintf(b->tables,
            "\nfair handed over %d times, beside fair: %.1f times the grants (%.1f - %.1f; "
            "%.0f %s),\n%.0f grants/s (%.0f %s), longest wait %.0f ms (at most %.0f %s), "
            "shares %.2f (%.1f %s)\n",
            HANDED_JUDGED, ratio.median, ratio.least, ratio.most, HANDED_RATIO_TARGET,
            verdicts[0], s.grants_per_s.median, HANDED_GRANTS_TARGET, verdicts[1],
            s.longest_wait_ms.most, beside.longest_wait_ms.most, verdicts[2],
            s.share_ratio.median, HANDED_SHARE_TARGET, verdicts[3]);
    json_object_set_new(b->results, "handed_over_to_fair", spread_json(ratio));
}

enum exit_code bench_hot(struct bench_locks *b)
{
    static struct hot_figures figures[CONTEST_COUNT][BENCH_ROUNDS_MAX];
    enum exit_code rc = EXIT_VALID;
    json_t *list;

    for (int r = 0; r < b->rounds && rc == EXIT_VALID; r++) {
        for (int i = 0; i < CONTEST_COUNT && rc == EXIT_VALID; i++) {
            if (!dlock_variant_find(contests[i].variant))
                continue;
            bench_progress(b, r, "%s, one hot name", contests[i].name);
            rc = hot_name_measure(b, contests[i].variant, contests[i].handover,
                                  &figures[i][r]);
        }
    }
    if (rc != EXIT_VALID)
        return rc;
    list = json_array();
    print_head(b);
    for (int i = 0; i < CONTEST_COUNT; i++) {
        if (bench_has(b, contests[i].variant))
            print_contest(b, &contests[i], figures[i], list);
    }
    print_handed(b, figures);
    json_object_set_new(b->results, "hot", list);
    return EXIT_VALID;
}
