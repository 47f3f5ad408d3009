/* SPDX-License-Identifier: MIT */
/* hot.c -- one hot name: grants, waits and hand-overs.
 *
 * A hand-over is the time from a release to the next grant: the release goes to the store, the
 * store wakes a waiter, and the waiter's request goes to the store and back.  The table gives
 * this time in round trips to the same store, measured during the contest.  A hand-over and a
 * round trip share the processors with the same threads, so their ratio counts the steps and
 * does not depend on how busy the machine is.  A second column has the ratio to a round trip
 * on an idle machine. */
#include "loadtest/bench/locks.h"

#include <string.h>

#include "loadtest/bench/hot_name.h"
#include "loadtest/bench/store_probe.h"
#include "loadtest/kit/spread.h"

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
