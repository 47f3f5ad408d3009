/* SPDX-License-Identifier: MIT */
/* memory.c -- many distinct names, each taken and released once: the memory that remains in the
 * process, and the keys that remain in the store.
 *
 * Three laps, each with names of its own, so that whatever is kept for a name grows
 * with every lap.  The first lap fills what is made once (connections, the allocator's
 * arenas); what is judged is the growth from the second lap to the third.  The
 * allowance is for an allocator that does not return every page: even 16 bytes kept for
 * each of 100,000 names are more. */
#include "loadtest/bench/locks.h"

#include <inttypes.h>
#include <malloc.h>
#include <stdatomic.h>
#include <string.h>
#include <unistd.h>

#include "base/text/duration.h"
#include "loadtest/bench/cell.h"
#include "loadtest/bench/store_probe.h"
#include "loadtest/kit/thread_group.h"

enum {
    LAPS = 3,
    THREADS = 16,
    ALLOWED_KIB = 1024,
    NODE_TIMEOUT_MS = 5000, /* long, because a late answer of a node would leave keys */
    SLOWEST_PAIR_MS = 5, /* for the limit of the whole                              */
    SETTLE_MS = 5000,    /* at most: other clients of ZooKeeper may keep nodes      */
    SETTLE_STEP_MS = 50,
};

/* `fenced` is left out, because its counters stay in Redis on purpose: a counter that is deleted
 * would give the same fences again. */
static const char *const variants[] = {"lua",       "reentrant", "fair", "redlock",
                                       "pg-unique", "zk-seq",    "etcd"};

enum { VARIANT_COUNT = sizeof variants / sizeof variants[0] };

struct plan {
    const struct bench_locks *b;
    const char *variant;
};

struct residue {
    int64_t rss_kib[LAPS];  /* after each lap                                       */
    int64_t before, after;  /* what the store has                                   */
    double pairs_per_s;
};

struct runner {
    dlock_system *sys;
    const char *variant;
    int lap;
    atomic_llong next;
};

static enum thread_group_answer next_name(void *arg, int index)
{
    struct runner *runner = arg;
    char name[64];

    (void)index;
    snprintf(name, sizeof name, "bench:memory:%d:%lld", runner->lap,
             atomic_fetch_add(&runner->next, 1));
    return bench_pair(runner->sys, runner->variant, name);
}

/* The resident memory of this process, after the allocator has returned free pages; -1: it cannot
 * be read. */
static int64_t read_rss_kib(void)
{
    FILE *file = fopen("/proc/self/statm", "re");
    long long pages = -1;

    malloc_trim(0);
    if (!file)
        return -1;
    if (fscanf(file, "%*s %lld", &pages) != 1)
        pages = -1;
    fclose(file);
    return pages < 0 ? -1 : pages * (sysconf(_SC_PAGESIZE) / 1024);
}

/* Wait until the store has at most `before` entries, but not longer than SETTLE_MS.  Answers the
 * number of entries then. */
static int64_t count_settled(struct store_probe *store, int64_t before)
{
    int64_t give_up_ns = monotonic_ns() + SETTLE_MS * INT64_C(1000000);
    int64_t count = store_probe_count(store);

    while (count > before && monotonic_ns() < give_up_ns) {
        (void)usleep(SETTLE_STEP_MS * 1000);
        count = store_probe_count(store);
    }
    return count;
}

static enum exit_code run_laps(const struct plan *plan, struct store_probe *store,
                               struct residue *out)
{
    struct runner runner = {.variant = plan->variant};
    struct thread_group group = {THREADS, next_name, &runner};
    int64_t begin_ns = monotonic_ns();

    out->before = store_probe_count(store);
    if (!bench_open(plan->b, plan->variant, NODE_TIMEOUT_MS, &runner.sys))
        return EXIT_UNAVAILABLE;
    for (runner.lap = 0; runner.lap < LAPS; runner.lap++) {
        if (!thread_group_repeat(&group, plan->b->names))
            return EXIT_INVALID;
        out->rss_kib[runner.lap] = read_rss_kib();
    }
    out->pairs_per_s = (double)(LAPS * plan->b->names) * 1e9 /
                       (double)(monotonic_ns() - begin_ns);
    out->after = count_settled(store, out->before);
    dlock_close(runner.sys);
    return out->before >= 0 && out->after >= 0 && out->rss_kib[LAPS - 1] > 0
               ? EXIT_VALID
               : EXIT_UNAVAILABLE;
}

static enum exit_code memory_cell(const void *arg, void *shared)
{
    const struct plan *plan = arg;
    struct store_probe *store = store_probe_open(plan->b, plan->variant);
    enum exit_code rc = EXIT_UNAVAILABLE;

    if (store)
        rc = run_laps(plan, store, shared);
    store_probe_close(store);
    return rc;
}

static enum exit_code measure(const struct plan *plan, struct residue *out)
{
    struct residue *shared = cell_share(sizeof *shared);
    enum exit_code rc = EXIT_BUG;
    struct child child;

    if (cell_start(&child, memory_cell, plan, shared))
        rc = cell_wait(&child,
                       bench_limit_ms(plan->b->names * SLOWEST_PAIR_MS),
                       plan->variant);
    *out = *shared;
    cell_unshare(shared, sizeof *shared);
    return rc;
}

static void print_residue(struct bench_locks *b, const char *variant,
                          const struct residue *r, json_t *list)
{
    int64_t grown_kib = r->rss_kib[LAPS - 1] - r->rss_kib[LAPS - 2];
    bool reached = grown_kib <= ALLOWED_KIB && r->after <= r->before;

    fprintf(b->tables,
            "%-11s %8" PRId64 " %8" PRId64 " %8" PRId64 " %8" PRId64 "  %7" PRId64
            " %7" PRId64 "  %8.0f  %s\n",
            variant, r->rss_kib[0], r->rss_kib[1], r->rss_kib[2], grown_kib, r->before,
            r->after, r->pairs_per_s, bench_judge(b, reached));
    json_array_append_new(
        list, json_pack("{s:s, s:[I,I,I], s:I, s:I, s:I, s:f, s:i, s:b}", "lock",
                        variant, "rss_kib", (json_int_t)r->rss_kib[0],
                        (json_int_t)r->rss_kib[1], (json_int_t)r->rss_kib[2],
                        "grown_kib", (json_int_t)grown_kib, "store_before",
                        (json_int_t)r->before, "store_after", (json_int_t)r->after,
                        "pairs_per_s", r->pairs_per_s, "allowed_kib", ALLOWED_KIB,
                        "reached", reached));
}

enum exit_code bench_memory(struct bench_locks *b)
{
    struct residue residues[VARIANT_COUNT];
    enum exit_code rc = EXIT_VALID;
    json_t *list;

    for (int i = 0; i < VARIANT_COUNT && rc == EXIT_VALID; i++) {
        struct plan plan = {b, variants[i]};

        if (!dlock_variant_find(variants[i]))
            continue;
        fprintf(stderr, "%s, %d laps of %" PRId64 " names\n", variants[i], LAPS,
                b->names);
        rc = measure(&plan, &residues[i]);
    }
    if (rc != EXIT_VALID)
        return rc;
    list = json_array();
    fprintf(b->tables,
            "\nMemory: %d laps of %" PRId64
            " names, each taken and released once by one of %d threads.\nResident KiB "
            "after each lap; from the second to the third it may grow by %d.  What\n"
            "the store has of locks (keys, rows) before and after.\n\n"
            "%-11s %8s %8s %8s %8s  %7s %7s  %8s\n",
            LAPS, b->names, THREADS, ALLOWED_KIB, "lock", "lap 1", "lap 2", "lap 3",
            "grown", "before", "after", "pairs/s");
    for (int i = 0; i < VARIANT_COUNT; i++) {
        if (bench_has(b, variants[i]))
            print_residue(b, variants[i], &residues[i], list);
    }
    json_object_set_new(b->results, "memory", list);
    return EXIT_VALID;
}
