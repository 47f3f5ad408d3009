/* SPDX-License-Identifier: MIT */
/* closed_loop.h -- wrk for the time of one step, to compare with an open loop. */
#ifndef LOADTEST_OPEN_LOOP_CLOSED_LOOP_H
#define LOADTEST_OPEN_LOOP_CLOSED_LOOP_H

#include <jansson.h>

#include "loadtest/sale/run.h"

struct closed_loop {
    const char *face;
    bool is_same_user;
    int connections;
    int64_t duration_ms;
    int64_t pause_ms; /* the service is stopped for, in the middle; 0: never            */
};

/* A run_load_fn: `arg` is a struct closed_loop.  load.json is written by wrk's script. */
enum exit_code closed_loop_run(void *arg, const struct run_stage *stage);

/* Print the counts and the latency of load.json in `dir` as a line of the table of
 * step_table.h.  The caller owns the JSON that is answered; NULL: it cannot be read. */
json_t *closed_loop_print(FILE *out, const struct closed_loop *loop, const char *dir);

#endif /* LOADTEST_OPEN_LOOP_CLOSED_LOOP_H */
