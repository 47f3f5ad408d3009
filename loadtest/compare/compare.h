/* SPDX-License-Identifier: MIT */
/* compare.h -- the comparison: experiments x hazards x locks, each run audited.
 *
 * A cell is one lock under one hazard in one experiment, run once or several times.  The expected
 * results are in loadtest/expect/expectations.def.
 */
#ifndef LOADTEST_COMPARE_COMPARE_H
#define LOADTEST_COMPARE_COMPARE_H

#include <stdbool.h>
#include <stdio.h>

#include "loadtest/expect/expectation.h"
#include "loadtest/open_loop/wrk_figures.h"
#include "loadtest/sale/run.h"

enum {
    COMPARE_LOCKS_MAX = 32,
    COMPARE_HAZARDS_MAX = 16,
    COMPARE_EXPERIMENTS_MAX = 4,
    COMPARE_REPEATS_MAX = 20,
};

struct experiment {
    const char *name;
    const char *question;  /* the question that the experiment answers, one line    */
    const char *const *flags;
    bool is_per_user;
    int voucher_count;
    unsigned caps; /* locks without these cannot take part; 0: all can             */
    bool holds;    /* a guard protects the data, so every cell must be sound       */
};

/* NULL past the last, or if there is none of that name. */
const struct experiment *experiment_find(const char *name);
const char *experiment_name_at(size_t i);

/* The outcome of a run. */
enum run_outcome {
    RUN_NOT_DONE,
    RUN_SOUND,   /* the audit found nothing                                        */
    RUN_BROKEN,  /* it found a violation that a broken lock explains               */
    RUN_WRONG,   /* it found a violation that no lock explains, such as a phantom  */
    RUN_UNKNOWN, /* it found none, and the verdict depends on missing answers, the hazard
                  * missed, a process died or had no part in the sale, or no late write
                  * was refused; or the laboratory held a thread for longer than its lease */
    RUN_OUTCOME_COUNT
};

/* NOTHING: expectations.def has no row for the lock.  EITHER: the outcome depends on the load of
 * the machine, or on the number of processes. */
enum cell_expectation { EXPECT_NOTHING, EXPECT_SOUND, EXPECT_BROKEN, EXPECT_EITHER };

/* For one lock (by name) and hazard. */
enum cell_expectation expectation_of(const char *lock, const struct hazard *hazard,
                                     enum order_path_id path);

/* The same in an experiment; NOTHING for a lock that cannot take part. */
enum cell_expectation experiment_expectation(const struct experiment *experiment,
                                             const char *lock,
                                             const struct hazard *hazard,
                                             enum order_path_id path);

/* The same where so many processes sell.  The expectations are for several: in a single process
 * `local` excludes all threads.  A lock that several processes cannot break, one cannot break
 * either. */
enum cell_expectation expectation_among(enum cell_expectation expected, int processes);
bool experiment_takes(const struct experiment *experiment, const char *lock);

/* Does a sound run show something only if the guard refused a late write?  True for a guard that
 * holds where the lock breaks: a run without a late write shows nothing of the guard. */
bool experiment_needs_late_write(const struct experiment *experiment, const char *lock,
                                 const struct hazard *hazard, enum order_path_id path);

struct run_record {
    enum run_outcome outcome;
    char dir[128]; /* below the comparison's                                        */
    char note[240];     /* what the hazard did                                       */
    char reason[WHY_MAX]; /* of RUN_UNKNOWN: why it is; "" otherwise           */
    int64_t counts[AUDIT_CHECK_COUNT];
    enum verdict valid[AUDIT_CHECK_COUNT];
    int64_t orders, issued, left, unanswered, elapsed_ms;
    int64_t lease_ms; /* longer than the setting on a busy machine and in a second attempt */
    double orders_per_s, p99_ms;
    struct wrk_figures figures; /* for objectives                                      */
    double load;      /* the machine's load average at its end; 0: not known          */
    int attempts;
};

struct cell {
    const struct experiment *experiment;
    const struct hazard *hazard;
    const char *lock;
    enum cell_expectation expected;
    bool needs_late_write;
    int run_count; /* planned; 0: the lock cannot take part in the experiment       */
    struct run_record runs[COMPARE_REPEATS_MAX];
};

enum cell_outcome {
    CELL_NOT_DONE,
    CELL_AS_EXPECTED,
    CELL_NO_EXPECTATION, /* it was done, and expectations.def has no row for it      */
    CELL_UNKNOWN,
    CELL_UNEXPECTED,
};

struct comparison {
    const struct experiment *experiments[COMPARE_EXPERIMENTS_MAX];
    const struct hazard *hazards[COMPARE_HAZARDS_MAX];
    const char *locks[COMPARE_LOCKS_MAX];
    size_t experiment_count, hazard_count, lock_count;
    struct cell *cells; /* [experiment][hazard][lock] */
    char dir[FILES_PATH_MAX];
    char started[32];   /* UTC */
    int64_t elapsed_ms;
    enum order_path_id path;
    int processes, connections;
    bool has_front; /* clients reach the processes through HAProxy */
    int64_t stock, duration_ms, lease_ms, calm_lease_ms;
    struct objectives objectives;
    bool record;
    bool is_quiet;      /* nothing is shown while it runs                            */
    char title[128];    /* of the run that goes on                                   */
    bool was_interrupted;
};

/* Do every planned run, in c->dir.  A run that fails is repeated; if it fails again, its
 * outcome is RUN_UNKNOWN, and the next run begins.  EXIT_VALID: every run has an outcome.
 * EXIT_INTERRUPTED: a signal ended the comparison.  EXIT_CANNOT_WRITE: a run's
 * directory cannot be made.  EXIT_UNAVAILABLE: a server of the lab cannot be started
 * again.  After these two the reason is on stderr. */
enum exit_code comparison_run(struct comparison *c, struct lab *lab);

struct cell *comparison_cell(const struct comparison *c, size_t experiment,
                             size_t hazard, size_t lock);
size_t comparison_cell_count(const struct comparison *c);
/* The number of cells that are to be run, in all and in one experiment. */
size_t comparison_planned(const struct comparison *c);
size_t comparison_planned_in(const struct comparison *c, size_t experiment);

/* Judge one run of a cell by its verdict.  A violation that the audit found counts, whatever is
 * unknown beside it.  A sound run needs two processes that worked, if two were started.
 * RUN_UNKNOWN: `why` is the reason; else it is "". */
enum run_outcome run_outcome_of(const struct cell *cell, const struct run_result *result,
                                char why[WHY_MAX]);
/* Judge a cell by its runs. */
enum cell_outcome cell_outcome_of(const struct cell *cell);
/* The number of cells with that result. */
size_t comparison_count(const struct comparison *c, enum cell_outcome outcome);
/* The exit status for all cells together: EXIT_INVALID if one is UNEXPECTED, otherwise
 * EXIT_UNKNOWN if one is unknown or has no expectation, otherwise EXIT_VALID. */
enum exit_code comparison_exit_code(const struct comparison *c);

const char *run_outcome_name(enum run_outcome outcome);
const char *cell_outcome_name(enum cell_outcome outcome);
const char *expectation_name(enum cell_expectation expected);

/* Add the number of the cell's runs with each outcome to `of`. */
void cell_count_runs(const struct cell *cell, int of[RUN_OUTCOME_COUNT]);
/* The greatest excess of the cell's runs: units sold beyond the stock, or second orders of a
 * user. */
int64_t cell_excess(const struct cell *cell);
/* The medians over the cell's runs; 0: none. */
double cell_orders_per_s(const struct cell *cell);
double cell_p99_ms(const struct cell *cell);

/* The table for a terminal. */
void compare_print(FILE *out, const struct comparison *c);
/* A run as summary.json has it; the caller owns it. */
json_t *compare_run_json(const struct run_record *r);
/* summary.md and summary.json in c->dir.  False: the reason is on stderr. */
bool compare_write_markdown(const struct comparison *c);
bool compare_write_json(const struct comparison *c);

enum { COMPARE_OBJECTIVE_MAX = 256 };

/* Does every run keep every objective?  False: `says` names the first objective that does not
 * hold, with the first run that shows it. */
bool comparison_objectives_hold(const struct comparison *c, char says[COMPARE_OBJECTIVE_MAX]);

/* A line for each objective, those that do not hold first; nothing if there are none. */
void comparison_objectives_print(FILE *out, const struct comparison *c);

/* An array with an object for each; the caller owns it. */
json_t *comparison_objectives_json(const struct comparison *c);

#endif /* LOADTEST_COMPARE_COMPARE_H */
