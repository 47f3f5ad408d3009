/* SPDX-License-Identifier: MIT */
/* redlock.c -- the lock of five nodes: pairs per second, and the latency while one node hangs.
 *
 * The blocking connections beside it are five for each thread; they send to all nodes
 * before they wait for the first answer, as a careful program by hand would. */
#include "loadtest/bench/locks.h"

#include <string.h>

#include "base/text/duration.h"
#include "loadtest/bench/cell.h"
#include "loadtest/fault/suspend.h"
#include "loadtest/kit/spread.h"
#include "loadtest/kit/thread_group.h"
#include "loadtest/probe/blocking.h"

#define VARIANT "redlock"

enum {
    NODES = LAB_COUNT_REDLOCK,
    HUNG_NODE = 2,
    CALLS_MAX = 1 << 16,
    CALLS_MIN = 11, /* calls of each kind, also if they take longer than duration_ms */
};

static const struct contest {
    int threads;
    double target; /* times the blocking connections; 0: none                       */
} contests[] = {{1, 0}, {64, 4.5}};
enum { CONTEST_COUNT = sizeof contests / sizeof contests[0] };

struct figures {
    struct thread_group_score lock[BENCH_ROUNDS_MAX], blocking[BENCH_ROUNDS_MAX];
};

struct plan {
    const struct bench_locks *b;
    int threads;
};

struct racer {
    dlock_system *sys;
    struct blocking *nodes[THREAD_GROUP_MAX];
    char names[THREAD_GROUP_MAX][48];
    int misses[THREAD_GROUP_MAX];
};

static void choose_name(struct racer *racer, int index)
{
    snprintf(racer->names[index], sizeof racer->names[index], "bench:redlock:%d:%d",
             index, racer->misses[index]);
}

/* On a busy machine healthy nodes may answer too late.  Such a pair counts as a miss, and the
 * next pair takes another name, since the nodes keep the old one for a lease. */
static enum thread_group_answer lock_once(void *arg, int index)
{
    struct racer *racer = arg;
    dlock_lease lease;
    dlock_status st = dlock_acquire(racer->sys, racer->names[index], 0, &lease);

    if (st == DLOCK_OK)
        st = dlock_release(racer->sys, &lease);
    if (st == DLOCK_OK)
        return THREAD_GROUP_DONE;
    if (st == DLOCK_UNKNOWN || st == DLOCK_IO || st == DLOCK_TIMEOUT ||
        st == DLOCK_LOST) {
        racer->misses[index]++;
        choose_name(racer, index);
        return THREAD_GROUP_MISSED;
    }
    bench_complain(VARIANT, "a pair", st);
    return THREAD_GROUP_FAILED;
}

static enum thread_group_answer blocking_once(void *arg, int index)
{
    struct racer *racer = arg;

    return blocking_pair(racer->nodes[index]) ? THREAD_GROUP_DONE : THREAD_GROUP_FAILED;
}

static void name_all(struct racer *racer)
{
    for (int i = 0; i < THREAD_GROUP_MAX; i++)
        choose_name(racer, i);
}

static enum exit_code lock_cell(const void *arg, void *shared)
{
    static struct racer racer;
    const struct plan *plan = arg;
    struct thread_group group = {plan->threads, lock_once, &racer};

    name_all(&racer);
    if (!bench_open(plan->b, VARIANT, &racer.sys))
        return EXIT_UNAVAILABLE;
    if (!thread_group_run(&group, plan->b->duration_ms, shared))
        return EXIT_INVALID;
    dlock_close(racer.sys);
    return EXIT_VALID;
}

static enum exit_code blocking_cell(const void *arg, void *shared)
{
    static struct racer racer;
    const struct plan *plan = arg;
    struct thread_group group = {plan->threads, blocking_once, &racer};

    name_all(&racer);
    for (int i = 0; i < group.threads; i++) {
        racer.nodes[i] = blocking_open(plan->b->lab, LAB_REDLOCK);
        if (!racer.nodes[i] || !blocking_prepare(racer.nodes[i], recipe_find(VARIANT),
                                                 racer.names[i]))
            return EXIT_UNAVAILABLE;
    }
    return thread_group_run(&group, plan->b->duration_ms, shared) ? EXIT_VALID : EXIT_INVALID;
}

static enum exit_code run_cell(const struct plan *plan, cell_fn *cell,
                               struct thread_group_score *score)
{
    struct thread_group_score *shared = cell_share(sizeof *shared);
    enum exit_code rc = EXIT_BUG;
    struct child child;

    if (cell_start(&child, cell, plan, shared))
        rc = cell_wait(&child, bench_limit_ms(plan->b->duration_ms), VARIANT);
    *score = *shared;
    cell_unshare(shared, sizeof *shared);
    return rc;
}

/* --- latency --- */

struct latency {
    double acquire_ms, release_ms; /* medians                                       */
    double longest_ms;             /* of both                                       */
};

struct latencies {
    struct latency up, hung;
};

/* The duration of a call, whatever its answer. */
static double since_ms(int64_t begin_ns)
{
    return (double)(monotonic_ns() - begin_ns) / 1e6;
}

/* Let one thread acquire and release locks for `duration_ms`, each time with another name,
 * because a lock that could not be released stays on the nodes for a lease. */
static bool time_calls(dlock_system *sys, int64_t duration_ms, struct latency *out)
{
    static double acquires[CALLS_MAX], releases[CALLS_MAX];
    static int calls;
    int64_t end_ns = monotonic_ns() + duration_ms * 1000000;
    size_t taken = 0, tried = 0;
    struct spread a, r;

    while (taken < CALLS_MIN || (tried < CALLS_MAX && monotonic_ns() < end_ns)) {
        int64_t begin_ns = monotonic_ns();
        dlock_lease lease;
        dlock_status st;
        char name[48];

        snprintf(name, sizeof name, "bench:redlock:latency:%d", calls++);
        st = dlock_acquire(sys, name, 0, &lease);
        acquires[tried++ % CALLS_MAX] = since_ms(begin_ns);
        if (st != DLOCK_OK && tried > CALLS_MIN * 10 && taken < CALLS_MIN)
            return bench_complain(VARIANT, "acquire", st);
        if (st != DLOCK_OK)
            continue;
        begin_ns = monotonic_ns();
        (void)dlock_release(sys, &lease);
        releases[taken++] = since_ms(begin_ns);
    }
    a = spread_of(acquires, tried);
    r = spread_of(releases, taken);
    *out = (struct latency){a.median, r.median, a.most > r.most ? a.most : r.most};
    return true;
}

/* The node hangs after all threads have connected to it. */
static enum exit_code latency_cell(const void *arg, void *shared)
{
    const struct plan *plan = arg;
    const struct bench_locks *b = plan->b;
    struct latencies *out = shared;
    struct lab lab = *b->lab;
    struct suspend hang;
    dlock_system *sys;
    bool ok;

    if (!bench_open(b, VARIANT, &sys))
        return EXIT_UNAVAILABLE;
    ok = time_calls(sys, b->duration_ms, &out->up);
    if (ok && !suspend_begin(&hang, &lab_server(&lab, LAB_REDLOCK, HUNG_NODE)->child))
        return EXIT_UNAVAILABLE;
    if (ok) {
        ok = time_calls(sys, b->duration_ms, &out->hung);
        suspend_end(&hang);
    }
    dlock_close(sys);
    return ok ? EXIT_VALID : EXIT_INVALID;
}

static enum exit_code measure_latency(const struct plan *plan, struct latencies *out)
{
    struct latencies *shared = cell_share(sizeof *shared);
    enum exit_code rc = EXIT_BUG;
    struct child child;

    if (cell_start(&child, latency_cell, plan, shared))
        rc = cell_wait(&child, bench_limit_ms(plan->b->duration_ms), VARIANT);
    *out = *shared;
    cell_unshare(shared, sizeof *shared);
    return rc;
}

/* --- results --- */

static void print_pairs(struct bench_locks *b, const struct figures *f,
                        const struct contest *contest, json_t *list)
{
    double values[3][BENCH_ROUNDS_MAX], missed = 0;
    struct spread lock, blocking, ratio;
    size_t n = (size_t)b->rounds;
    json_t *row;

    for (size_t r = 0; r < n; r++) {
        values[0][r] = f->lock[r].per_s;
        values[1][r] = f->blocking[r].per_s;
        values[2][r] = f->lock[r].per_s / f->blocking[r].per_s;
        missed += f->lock[r].missed;
    }
    lock = spread_of(values[0], n);
    blocking = spread_of(values[1], n);
    ratio = spread_of(values[2], n);
    fprintf(b->tables, "%7d %8.0f %8.0f %6.2f (%.2f - %.2f) %7.0f", contest->threads,
            lock.median, blocking.median, ratio.median, ratio.least, ratio.most,
            missed);
    row = json_pack("{s:i, s:o, s:o, s:o, s:f}", "threads", contest->threads, "lock_per_s",
                    spread_json(lock), "blocking_per_s", spread_json(blocking),
                    "ratio_to_blocking", spread_json(ratio), "missed", missed);
    bench_end_row(b, row, ratio.median, contest->target, 1);
    json_array_append_new(list, row);
}

static void print_contests(struct bench_locks *b, const struct figures *figures,
                           json_t *list)
{
    fprintf(b->tables,
            "\nredlock on %d nodes: pairs per second, and the ratio to the same "
            "commands over %d\nblocking connections per thread (least - most).  "
            "Missed: too few nodes answered within\n%d ms, in all rounds\n\n"
            "%7s %8s %8s %6s %20s  %s\n",
            NODES, NODES, dlock_options_default().redlock_node_timeout_ms, "threads",
            "lock", "blocking", "ratio", "missed", "target");
    for (int i = 0; i < CONTEST_COUNT; i++)
        print_pairs(b, &figures[i], &contests[i], list);
}

/* Print the figures of one call of the lock: the median of the rounds while all nodes answer,
 * while one hangs, and of the differences within a round. */
static void print_call(struct bench_locks *b, const char *call, double *up,
                       double *hung, json_t *list)
{
    double timeout_ms = dlock_options_default().redlock_node_timeout_ms;
    double more[BENCH_ROUNDS_MAX];
    size_t n = (size_t)b->rounds;
    struct spread u, h, m;

    for (size_t i = 0; i < n; i++)
        more[i] = hung[i] - up[i];
    u = spread_of(up, n);
    h = spread_of(hung, n);
    m = spread_of(more, n);
    fprintf(b->tables, "%-7s %8.2f %8.2f %8.2f (%.2f - %.2f)  %.0f %s\n", call,
            u.median, h.median, m.median, m.least, m.most, timeout_ms,
            bench_judge(b, m.median <= timeout_ms));
    json_array_append_new(list,
                          json_pack("{s:s, s:o, s:o, s:o, s:f, s:b}", "call", call,
                                    "all_up_ms", spread_json(u), "one_hung_ms",
                                    spread_json(h), "more_ms", spread_json(m),
                                    "target", timeout_ms, "reached",
                                    m.median <= timeout_ms));
}

static void print_latencies(struct bench_locks *b, const struct latencies *rounds,
                            json_t *list)
{
    double up[2][BENCH_ROUNDS_MAX], hung[2][BENCH_ROUNDS_MAX];
    double longest_ms = 0;

    for (int r = 0; r < b->rounds; r++) {
        up[0][r] = rounds[r].up.acquire_ms;
        up[1][r] = rounds[r].up.release_ms;
        hung[0][r] = rounds[r].hung.acquire_ms;
        hung[1][r] = rounds[r].hung.release_ms;
        if (rounds[r].hung.longest_ms > longest_ms)
            longest_ms = rounds[r].hung.longest_ms;
    }
    fprintf(b->tables,
            "\nMedian latency of one thread (ms) while all nodes answer and while one "
            "hangs; at most\nthe timeout of a node more\n\n%-7s %8s %8s %8s %15s  %s\n",
            "call", "all up", "one hung", "more", "", "target");
    print_call(b, "acquire", up[0], hung[0], list);
    print_call(b, "release", up[1], hung[1], list);
    fprintf(b->tables, "The longest call while one hung: %.2f ms\n", longest_ms);
}

static enum exit_code measure_round(struct bench_locks *b, int r,
                                    struct figures *figures, struct latencies *latency)
{
    enum exit_code rc = EXIT_VALID;
    struct plan plan = {b, 1};

    for (int i = 0; i < CONTEST_COUNT && rc == EXIT_VALID; i++) {
        struct figures *f = &figures[i];
        bool lock_first = r % 2;

        plan.threads = contests[i].threads;
        bench_progress(b, r, VARIANT ", %d threads", plan.threads);
        if (lock_first)
            rc = run_cell(&plan, lock_cell, &f->lock[r]);
        if (rc == EXIT_VALID)
            rc = run_cell(&plan, blocking_cell, &f->blocking[r]);
        if (rc == EXIT_VALID && !lock_first)
            rc = run_cell(&plan, lock_cell, &f->lock[r]);
    }
    if (rc != EXIT_VALID)
        return rc;
    bench_progress(b, r, VARIANT ", one node hangs");
    return measure_latency(&plan, latency);
}

enum exit_code bench_redlock(struct bench_locks *b)
{
    static struct figures figures[CONTEST_COUNT];
    static struct latencies latencies[BENCH_ROUNDS_MAX];
    enum exit_code rc = EXIT_VALID;
    json_t *pairs, *calls;

    for (int r = 0; r < b->rounds && rc == EXIT_VALID; r++)
        rc = measure_round(b, r, figures, &latencies[r]);
    if (rc != EXIT_VALID)
        return rc;
    pairs = json_array();
    calls = json_array();
    print_contests(b, figures, pairs);
    print_latencies(b, latencies, calls);
    json_object_set_new(b->results, "redlock",
                        json_pack("{s:o, s:o}", "pairs", pairs, "latency", calls));
    return EXIT_VALID;
}
