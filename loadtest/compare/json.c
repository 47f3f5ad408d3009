/* SPDX-License-Identifier: MIT */
/* json.c -- the comparison for programs: summary.json. */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/text/version.h"
#include "loadtest/compare/compare.h"
#include "loadtest/kit/machine.h"

enum { SUMMARY_FORMAT = 1 };

json_t *compare_run_json(const struct run_record *r)
{
    json_t *checks = json_object();

    for (int i = 0; i < AUDIT_CHECK_COUNT; i++)
        json_object_set_new(checks, audit_check_name((enum audit_check)i),
                            json_pack("{s:o, s:I}", "valid", verdict_to_json(r->valid[i]),
                                      "count", (json_int_t)r->counts[i]));
    return json_pack("{s:s, s:s, s:s*, s:s, s:i, s:I, s:f, s:I, s:I, s:I, s:I, s:I, s:f, s:f, "
                     "s:o}",
                     "outcome", run_outcome_name(r->outcome), "dir", r->dir,
                     "reason", *r->reason ? r->reason : NULL, "hazard_note", r->note,
                     "attempts", r->attempts, "lease_ms", (json_int_t)r->lease_ms,
                     "load", r->load, "issued",
                     (json_int_t)r->issued, "orders", (json_int_t)r->orders, "left",
                     (json_int_t)r->left, "unanswered", (json_int_t)r->unanswered,
                     "elapsed_ms", (json_int_t)r->elapsed_ms, "orders_per_s",
                     r->orders_per_s, "p99_ms", r->p99_ms, "checks", checks);
}

static json_t *cell_json(const struct cell *cell)
{
    json_t *runs = json_array();

    for (int i = 0; i < cell->run_count; i++) {
        if (cell->runs[i].outcome != RUN_NOT_DONE)
            json_array_append_new(runs, compare_run_json(&cell->runs[i]));
    }
    return json_pack("{s:s, s:s, s:s, s:s, s:s, s:I, s:f, s:f, s:o}", "experiment",
                     cell->experiment->name, "hazard", cell->hazard->name, "lock",
                     cell->lock, "expected", expectation_name(cell->expected),
                     "outcome", cell_outcome_name(cell_outcome_of(cell)), "excess_max",
                     (json_int_t)cell_excess(cell), "orders_per_s_median",
                     cell_orders_per_s(cell), "p99_ms_median", cell_p99_ms(cell),
                     "runs", runs);
}

bool compare_write_json(const struct comparison *c)
{
    char path[FILES_PATH_MAX];
    json_t *cells = json_array(), *json;
    bool ok;

    for (size_t i = 0; i < comparison_cell_count(c); i++)
        if (c->cells[i].run_count > 0)
            json_array_append_new(cells, cell_json(&c->cells[i]));
    json = json_pack(
        "{s:i, s:s, s:s, s:b, s:f, s:o, s:{s:s, s:i, s:b, s:i, s:I, s:I, s:I}, s:{s:i, s:i, s:i, "
        "s:i, s:i}, "
        "s:o, s:o}",
        "format", SUMMARY_FORMAT, "version", SECKILL_VERSION, "started", c->started,
        "cut_short", c->was_interrupted, "elapsed_s", (double)c->elapsed_ms / 1000,
        "machine", machine_json(), "settings", "order_path",
        order_path_name_at(c->path), "processes", c->processes, "front", c->has_front,
        "connections",
        c->connections, "stock", (json_int_t)c->stock, "lease_ms",
        (json_int_t)c->lease_ms, "calm_lease_ms", (json_int_t)c->calm_lease_ms, "count",
        "as_expected", (int)comparison_count(c, CELL_AS_EXPECTED), "unexpected",
        (int)comparison_count(c, CELL_UNEXPECTED), "unknown",
        (int)comparison_count(c, CELL_UNKNOWN), "not_done",
        (int)comparison_count(c, CELL_NOT_DONE), "no_expectation",
        (int)comparison_count(c, CELL_NO_EXPECTATION), "cells", cells, "objectives",
        comparison_objectives_json(c));
    files_join(path, c->dir, "summary.json");
    ok = json && files_write_json(path, json);
    if (!ok)
        eprintf("seckill compare: cannot write %s: %s\n", path, strerror(errno));
    json_decref(json);
    return ok;
}
