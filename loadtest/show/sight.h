/* SPDX-License-Identifier: MIT */
/* sight.h -- the state of the sale that is shown, read ten times a second.
 *
 * The counts of orders come from the database alone, in one question that sees one instant.  The
 * load has the number of requests without an answer, and the latencies.  The store of the lock is
 * asked through a process that runs.
 *
 * Threads     One.
 */
#ifndef LOADTEST_SHOW_SIGHT_H
#define LOADTEST_SHOW_SIGHT_H

#include <jansson.h>

#include "db/tally.h"
#include "loadtest/show/trouble.h"

/* The lines of the page are points: answers and latencies of the load, four a second. */
enum {
    POINTS_STEP_MS = 250, /* from a point to the next                                   */
    POINTS_KEPT = 160,    /* points that are kept: forty seconds                        */
    POINTS_WINDOW = 4,    /* points that a percentile is taken over                     */
    POINTS_ENOUGH = 100,  /* the least number of orders for a p99                       */
};

struct show_point {
    int64_t accepted, sold_out, other; /* answers of this step                          */
    int64_t p50_us, p99_us;            /* over POINTS_WINDOW steps; -1: too few          */
};

/* Begins as {0}, and points_resume() before the first look. */
struct show_points {
    struct show_point kept[POINTS_KEPT];
    int64_t count;       /* of all points; the oldest are forgotten                     */
    int64_t due_ns;      /* when the next point is due, monotonic clock                 */
    int64_t last[3];     /* accepted, sold-out, other at the last point                 */
    int64_t buckets[POINTS_WINDOW + 1][CONTROL_BUCKETS]; /* at the last points           */
};

enum {
    SIGHT_LANE = 100,      /* looks that a lane shows: ten seconds                     */
    SIGHT_LOOK_MS = 100,
    SIGHT_COUNT_MS = 200,  /* between two counts of new rows                           */
};

/* The states of a process, as letters of its lane. */
enum sight_state {
    SIGHT_SERVES = '.',
    SIGHT_WAITS = 'w',       /* has requests, and the store names no thread of it       */
    SIGHT_WORKS = 'u',       /* has requests; whether it has the lock is not known      */
    SIGHT_HOLDS = 'h',       /* the store names it; of a local lock, its own memory does */
    SIGHT_SLOW = 's',        /* held in its work, and the store still names it          */
    SIGHT_LATE = 'l',        /* held in its work, and the store names it no more        */
    SIGHT_FROZEN_HOLDS = 'f', /* stopped in its work, and the store still names it      */
    SIGHT_FROZEN_LATE = 'x', /* stopped in its work, and the store names it no more     */
    SIGHT_FROZEN = 'z',      /* stopped in its work; what the store names is not known  */
    SIGHT_DEAD = 'd',
};

/* What a server of a lock in five says, as letters. */
enum sight_node { NODE_LOCKED = 'h', NODE_FREE = '.', NODE_SILENT = '?' };

struct sight_process {
    char lane[SIGHT_LANE + 1]; /* oldest first                                         */
    char state;
    int64_t since_ns;
    int64_t in_flight, orders; /* requests without an answer; orders that were told     */
    char own;                  /* of a lock in its memory: HOLDS, WAITS, or not known   */
    bool is_told_late;         /* the journal has that another process got its lock     */
    int64_t refused;           /* late writes of the process that were refused          */
};

struct sight {
    struct show_sale *sale;
    struct show_faults *trouble;
    struct show_journal *journal;

    struct tally tally;       /* of the last count                                       */
    struct tally_kept kept;   /* of the counts before                                    */
    bool has_tally;
    int64_t tally_ns, doubles_ns, full_ns; /* when it was counted; when doubles and all
                                            * rows were                                  */
    bool is_settled;          /* no request that was sent can become an order any more   */
    bool is_sold_out, was_lost, was_oversold, was_double; /* in the journal already       */

    struct service_lock lock; /* as the store says                                       */
    bool store_answers;
    bool names_processes;     /* an owner in the store was seen to begin with a process's uuid */
    int asked;                /* the process through which the store is asked            */
    char nodes[LAB_COUNT_REDLOCK + 1]; /* of a lock in these servers, for each: NODE_*    */
    int64_t store_ns;
    int64_t renewals;         /* of this holder; renewals between two looks are missed   */

    struct sight_process processes[SERVICE_MAX];
    int64_t accepted, sold_out; /* of the load                                           */
    int64_t sold_out_ns;      /* the last time at which the sale was seen not to be sold out */
    struct show_points points;
};

/* A new sale: forget the last one. */
void sight_begin(struct sight *sight);

/* Look at everything once. */
void sight_look(struct sight *sight);

/* The number of the process that the store's owner names; 0: the lock is free, or not known. */
int sight_process_of(const struct sight *sight);

/* When the next counts of a sale under load are expected, in nanoseconds of the monotonic clock;
 * 0: there are no counts yet. */
int64_t sight_next_ns(const struct sight *sight);

/* Count all rows, and find out if the sale is settled. */
void sight_count_all(struct sight *sight);

/* The load begins, or goes on: the next point is due a step from now. */
void points_resume(struct show_points *points);

/* The points, oldest first; the caller owns them. */
json_t *points_json(const struct show_points *points);

#endif /* LOADTEST_SHOW_SIGHT_H */
