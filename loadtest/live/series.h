/* SPDX-License-Identifier: MIT */
/* series.h -- the progress of a command of many pieces: the measurements of a bench, the
 * performances of scenarios and of a matrix.  The pieces are shown as live.h shows a load: a block
 * on a terminal, lines in a log, JSON lines for programs.
 *
 * A series has no thread, since its commands fork children that go on without an exec: the
 * command's own loop calls series_tick() several times a second.
 *
 * Every function takes NULL for `series` and then does nothing.
 *
 * Threads     The laboratory's main one.
 */
#ifndef LOADTEST_LIVE_SERIES_H
#define LOADTEST_LIVE_SERIES_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "loadtest/kit/verdict.h"
#include "loadtest/live/live.h"

struct series;

struct series_options {
    const char *command;     /* "matrix"; this and the texts below are lent              */
    const char *piece;       /* one of the pieces: "performance"                         */
    const char *good, *bad;  /* a verdict on a piece: "as expected", "UNEXPECTED"        */
    size_t count;            /* of the pieces                                            */
    int64_t limit_ms;        /* nothing begins after so long; 0: no limit                */
    bool is_quiet;           /* nothing on stderr                                        */
    bool is_told;            /* the command prints its only piece itself: no block, no line */
};

/* The series begins now.  The caller ends it with series_close(). */
struct series *series_open(const struct series_options *options);
/* Take the block away, and free the series. */
void series_close(struct series *series);

/* Is the next output due, so that series_now() is worth its call? */
bool series_wants(const struct series *series);
/* Set the title of the piece that goes on now, and a note on the piece, "" for none.  Both are
 * copied. */
void series_now(struct series *series, const char *title, const char *note);

/* A load begins: its speed and latency are shown until the next call. */
void series_load_begins(struct series *series);
void series_load_ends(struct series *series);
bool series_wants_counts(const struct series *series);
void series_feed(struct series *series, const struct live_counts *counts);
/* Set the speed and the 99th percentile of the load that has ended.  They are shown until the
 * next load has ended. */
void series_measured(struct series *series, double per_s, double p99_ms);

/* Draw the block, print the line, or write the JSON line "progress", if it is time to. */
void series_tick(struct series *series);
/* Print a line now, if lines are printed at all. */
void series_line(struct series *series);

/* Hide the block, so that something can be printed; series_tick() draws it again. */
void series_hide(struct series *series);

/* A piece has ended after `took_ms`.  `verdict` is NULL for a piece that is not judged.  The JSON
 * line "run" has the members of `more`, which is taken and may be NULL. */
void series_done(struct series *series, const enum verdict *verdict, int64_t took_ms,
                 json_t *more);

/* Write the JSON line "end" with the exit status, the directory of the run (NULL: nothing was
 * measured) and the verdicts. */
void series_end(const struct series *series, int exit_status, const char *dir);

#endif /* LOADTEST_LIVE_SERIES_H */
