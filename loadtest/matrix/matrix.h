/* SPDX-License-Identifier: MIT */
/* matrix.h -- the matrix: every scenario under every lock that has a row for it, with several seeds
 * and a background load.
 *
 * A cell is one scenario under one lock and one stock guard, performed once for each
 * seed.  expectations.def has the outcome that each cell must have. */
#ifndef LOADTEST_MATRIX_MATRIX_H
#define LOADTEST_MATRIX_MATRIX_H

#include "loadtest/kit/files.h"
#include "loadtest/kit/verdict.h"
#include "loadtest/scenario/plan.h"

enum { MATRIX_SEEDS_MAX = 1000, MATRIX_PARTS_MAX = 1000, MATRIX_COMMAND_MAX = 300 };

struct matrix_run {
    bool is_planned, is_done;
    enum verdict verdict;          /* if it is done: VALID is as expected             */
    enum scenario_outcome outcome; /* if it is done and not unknown                   */
    enum exit_code rc;
    unsigned signs;
    int tries;
    int64_t took_ms, story_holds, background_holds, background_failures;
    int64_t faults, stalls, delays; /* of the story; of the background load, the last two */
    char why[400], spoilt[300]; /* spoilt: the reason for which an earlier try did not count */
    bool is_kept;  /* its records and its page are in dir                             */
    char dir[128]; /* below the matrix's                                              */
};

struct matrix_cell {
    struct scenario_setup setup;
    struct matrix_run *runs; /* one for each seed                                     */
    char *story;             /* the text of the first performance, or of the first with another
                              * outcome than expected; NULL: none yet                 */
    char *story_zh;          /* the same in Chinese; NULL: it was not told            */
    bool story_is_odd;       /* `story` is of a performance that was not as expected  */
};

struct series;

struct matrix {
    struct matrix_cell *cells; /* by scenario, then by lock                           */
    size_t cell_count;
    uint32_t first_seed;
    int seed_count, part, parts;
    int jobs, labs;
    const struct scenario_pages *pages;
    bool keep, is_quiet; /* is_quiet: do not show the progress                        */
    struct expectation *expected_instead; /* NULL: the rows of expectations.def    */
    char dir[FILES_PATH_MAX];
    char started[32]; /* UTC                                                          */
    int64_t elapsed_ms;
    bool was_interrupted, was_limited;
    bool has_service; /* the settings of a seckilld are kept                          */
    struct series *series; /* of matrix_perform(); owned, ended by matrix_free()      */
};

/* The totals of a matrix. */
struct matrix_totals {
    size_t scenarios, locks, cells, cells_not_done;
    struct verdict_counts cells_of; /* those that are done                            */
    size_t planned, done, repeated;
    int64_t faults, stalls, delays, story_holds, background_holds, background_failures, took_ms;
};

/* Take over the setups (`count` of them; they are copied).  False: none. */
bool matrix_make(struct matrix *m, const struct scenario_setup *setups, size_t count);
void matrix_free(struct matrix *m);

/* Plan every `parts`th performance, beginning with number `part`, from 1 on. */
void matrix_plan(struct matrix *m, int part, int parts);

/* A performance: which cell, which of its seeds. */
struct matrix_place {
    size_t cell;
    int seed;
};
/* The planned performances, sorted by seed, so that a matrix that is cut short has performed
 * every cell once.  Each seed has an order of the cells of its own.  The caller frees *out. */
size_t matrix_order(const struct matrix *m, struct matrix_place **out);

uint32_t matrix_seed(const struct matrix *m, int seed);

void matrix_record(struct matrix_run *run, const struct scenario_result *result);
/* The number of the cell's performances with each verdict; verdict_worst() of them is the
 * cell's. */
struct verdict_counts matrix_cell_counts(const struct matrix *m, const struct matrix_cell *cell);
/* Was any performance of the cell done? */
bool matrix_cell_is_done(const struct matrix *m, const struct matrix_cell *cell);
/* The worst verdict of its performances; VALID if none was done. */
enum verdict matrix_cell_verdict(const struct matrix *m, const struct matrix_cell *cell);
/* "as expected", "unknown", "UNEXPECTED" or "not done". */
const char *matrix_verdict_name(bool is_done, enum verdict verdict);
struct matrix_totals matrix_sum(const struct matrix *m);
/* The exit status for all cells together: the worst by verdict_worse_exit(); EXIT_UNKNOWN if
 * nothing was done. */
enum exit_code matrix_exit_code(const struct matrix *m);

/* The command that performs this again, alone. */
void matrix_command(const struct matrix *m, const struct matrix_cell *cell, int seed,
                    char out[MATRIX_COMMAND_MAX]);

/* ---- run.c ---- */

/* Perform the planned performances, with the progress on stderr.  Anything but EXIT_VALID: the
 * matrix ended early, for example EXIT_INTERRUPTED; the results so far are in the matrix.
 * limit_ms: no performance begins after this time; 0: no limit. */
enum exit_code matrix_perform(struct matrix *m, const char *lab_dir, int64_t limit_ms);

/* ---- reports; false: the reason is on stderr ---- */

void matrix_print(FILE *out, const struct matrix *m, int width);
bool matrix_write_markdown(const struct matrix *m);
bool matrix_write_json(const struct matrix *m);

/* The rows and columns of the tables: a row is a scenario under a guard. */
struct matrix_grid {
    size_t *row_first; /* a cell of each row                                          */
    size_t row_count;
    const dlock_variant_info **locks;
    size_t lock_count;
};
void matrix_grid_make(struct matrix_grid *grid, const struct matrix *m);
void matrix_grid_free(struct matrix_grid *grid);
/* NULL: the scenario has no row for the lock, or the cell was not asked for. */
const struct matrix_cell *matrix_grid_cell(const struct matrix_grid *grid,
                                           const struct matrix *m, size_t row,
                                           size_t lock);
/* "holds"; "2/5!" if two of five came out otherwise, "1/5?" if one is unknown; "-": not
 * done. */
void matrix_cell_text(const struct matrix *m, const struct matrix_cell *cell, char *out,
                      size_t size);
/* "wrong-delete", or "expired-lease +fence" under a guard that is named. */
void matrix_row_text(const struct matrix_cell *cell, char *out, size_t size);
/* The expected outcome and signs of the cell, in one line. */
void matrix_expected_text(const struct matrix_cell *cell, char *out, size_t size);
/* "480 of 480 cells as expected" and so on. */
void matrix_headline(const struct matrix *m, char *out, size_t size);

#endif /* LOADTEST_MATRIX_MATRIX_H */
