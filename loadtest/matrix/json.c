/* SPDX-License-Identifier: MIT */
/* json.c -- the matrix for programs: matrix.json. */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/text/version.h"
#include "loadtest/kit/machine.h"
#include "loadtest/matrix/matrix.h"

enum { MATRIX_FORMAT = 1 };

static json_t *run_json(const struct matrix *m, const struct matrix_cell *cell, int seed)
{
    const struct matrix_run *run = &cell->runs[seed];
    bool has_outcome = run->verdict != VERDICT_UNKNOWN;
    char command[MATRIX_COMMAND_MAX];

    matrix_command(m, cell, seed, command);
    return json_pack(
        "{s:I, s:s, s:o, s:o, s:s, s:i, s:s, s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:o, "
        "s:s}",
        "seed", (json_int_t)matrix_seed(m, seed), "verdict",
        verdict_beside_expectation(run->verdict), "outcome",
        has_outcome ? json_string(scenario_outcome_name(run->outcome, false)) : json_null(),
        "signs", scenario_signs_json(run->signs), "why", run->why, "tries", run->tries, "spoilt",
        run->spoilt, "took_ms", (json_int_t)run->took_ms, "faults", (json_int_t)run->faults,
        "crowd_stalls", (json_int_t)run->stalls, "crowd_delays", (json_int_t)run->delays, "holds",
        (json_int_t)run->story_holds, "crowd_holds", (json_int_t)run->background_holds,
        "crowd_failures", (json_int_t)run->background_failures, "dir",
        run->is_kept ? json_string(run->dir) : json_null(), "command", command);
}

static json_t *cell_json(const struct matrix *m, const struct matrix_cell *cell)
{
    struct verdict_counts counts = matrix_cell_counts(m, cell);
    json_t *runs = json_array();
    int planned = 0;

    for (int i = 0; i < m->seed_count; i++) {
        planned += cell->runs[i].is_planned;
        if (cell->runs[i].is_planned && cell->runs[i].is_done)
            json_array_append_new(runs, run_json(m, cell, i));
    }
    return json_pack("{s:s, s:s, s:s, s:s, s:s, s:o, s:s, s:i, s:i, s:o}", "number",
                     cell->setup.scenario->number, "scenario", cell->setup.scenario->name, "lock",
                     cell->setup.lock->name, "guard", cell->setup.guard->name, "expected",
                     scenario_outcome_name(cell->setup.expected->outcome, false), "expected_signs",
                     scenario_signs_json(cell->setup.expected->shows), "verdict",
                     matrix_verdict_name(matrix_cell_is_done(m, cell), verdict_worst(&counts)),
                     "planned", planned, "as_expected", (int)counts.of[VERDICT_VALID], "runs",
                     runs);
}

static json_t *totals_json(const struct matrix *m)
{
    struct matrix_totals t = matrix_sum(m);

    return json_pack(
        "{s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:I, "
        "s:I}",
        "scenarios", (json_int_t)t.scenarios, "locks", (json_int_t)t.locks, "cells",
        (json_int_t)t.cells, "cells_as_expected", (json_int_t)t.cells_of.of[VERDICT_VALID],
        "cells_unexpected", (json_int_t)t.cells_of.of[VERDICT_INVALID], "cells_unknown",
        (json_int_t)t.cells_of.of[VERDICT_UNKNOWN], "cells_not_done", (json_int_t)t.cells_not_done,
        "planned", (json_int_t)t.planned, "performed", (json_int_t)t.done, "repeated",
        (json_int_t)t.repeated, "faults", (json_int_t)t.faults, "crowd_stalls",
        (json_int_t)t.stalls, "crowd_delays", (json_int_t)t.delays, "holds",
        (json_int_t)(t.story_holds + t.background_holds),
        "story_holds", (json_int_t)t.story_holds, "crowd_holds",
        (json_int_t)t.background_holds, "crowd_failures", (json_int_t)t.background_failures);
}

bool matrix_write_json(const struct matrix *m)
{
    char path[FILES_PATH_MAX];
    json_t *cells = json_array(), *json;
    bool ok;

    for (size_t i = 0; i < m->cell_count; i++)
        json_array_append_new(cells, cell_json(m, &m->cells[i]));
    json = json_pack("{s:i, s:s, s:s, s:f, s:b, s:b, s:o, s:{s:I, s:i, s:i, s:i, s:i, s:i}, "
                     "s:o, s:o}",
                     "format", MATRIX_FORMAT, "version", SECKILL_VERSION, "started",
                     m->started, "elapsed_s", (double)m->elapsed_ms / 1000, "cut_short",
                     m->was_interrupted, "time_was_up", m->was_limited, "machine",
                     machine_json(), "settings", "seed", (json_int_t)m->first_seed, "seeds",
                     m->seed_count, "part", m->part, "parts", m->parts, "jobs", m->jobs,
                     "labs", m->labs, "totals", totals_json(m), "cells", cells);
    files_join(path, m->dir, "matrix.json");
    ok = json != NULL && files_write_json(path, json);
    if (!ok)
        eprintf("seckill matrix: cannot write %s: %s\n", path, strerror(errno));
    json_decref(json);
    return ok;
}
