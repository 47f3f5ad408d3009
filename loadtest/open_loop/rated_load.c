/* SPDX-License-Identifier: MIT */
/* rated_load.c -- runs at fixed rates, and wrk beside them. */
#include "loadtest/open_loop/rated_load.h"

#include <errno.h>
#include <inttypes.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#include "base/text/duration.h"
#include "loadtest/kit/command.h"
#include "loadtest/kit/interrupt.h"
#include "loadtest/kit/json_lines.h"
#include "loadtest/kit/memory.h"
#include "loadtest/kit/run_directory.h"
#include "loadtest/open_loop/pause.h"
#include "loadtest/open_loop/wrk_figures.h"
#include "loadtest/sale/ends.h"
#include "loadtest/sale/run.h"
#include "loadtest/sale/wrk.h"

/* ---- the closed loop beside the steps ---- */

struct closed_loop {
    int64_t duration_ms;
    int64_t pause_ms; /* the service is stopped for, in the middle; 0: never            */
};

enum { START_MS = 30000, DRAIN_MS = 10000, POLL_MS = 2 };

/* When the first request was sent; 0: wrk ended, or sent nothing for START_MS. */
static int64_t wait_begun(const struct wrk *wrk)
{
    int64_t by_ns = monotonic_ns() + START_MS * 1000000LL;
    struct start_times start = {0};

    while (start.fired < wrk->client_count && wrk_runs(wrk) && monotonic_ns() < by_ns &&
           interrupt_sleep_ms(POLL_MS))
        start_signal_read(&wrk->control, &start);
    return start.first_ns;
}

static enum exit_code drive(const struct closed_loop *loop, const struct run_stage *stage,
                            struct wrk *wrk)
{
    int64_t middle_ns = loop->duration_ms * 1000000 / 2;
    struct pause pause = {.services = stage->services,
                          .service_count = stage->service_count,
                          .from_ns = middle_ns,
                          .to_ns = middle_ns + loop->pause_ms * 1000000};
    int64_t begin_ns = wait_begun(wrk), end_ns = begin_ns + loop->duration_ms * 1000000;
    bool ran = begin_ns > 0, has_users = true;

    while (ran && has_users && monotonic_ns() < end_ns && interrupt_sleep_ms(POLL_MS)) {
        pause_tick(&pause, monotonic_ns() - begin_ns);
        ran = wrk_runs(wrk);
        has_users = control_sum(&wrk->control, CONTROL_RAN_OUT) == 0;
    }
    pause_end(&pause);
    if (interrupted())
        return EXIT_INTERRUPTED;
    if (!has_users) {
        why_say(stage->why, "the users of wrk ran out; ask for a shorter --duration");
        return EXIT_UNAVAILABLE;
    }
    if (ran)
        return EXIT_VALID;
    if (!wrk_runs(wrk))
        return wrk_explain_end(wrk, stage->dir, stage->why);
    why_say(stage->why, "wrk sent nothing for %d s", START_MS / 1000);
    return EXIT_UNAVAILABLE;
}

/* A run_load_fn: `arg` is a struct closed_loop.  load.json is written by wrk's script. */
static enum exit_code closed_loop_run(void *arg, const struct run_stage *stage)
{
    const struct closed_loop *loop = arg;
    char face[48];
    struct wrk_plan plan = {
        .lab = stage->plan->lab,
        .dir = stage->dir,
        .script = stage->plan->is_per_user ? "one_per_user.lua" : "order.lua",
        .urls = stage->urls,
        .vouchers = stage->voucher_list,
        .clients = stage->service_count,
        .threads = 1,
        .connections = stage->plan->connections,
        .duration_ms = loop->duration_ms,
        .keep_ledger = true,
        .extra = {face},
        .why = stage->why,
    };
    struct wrk wrk;
    enum exit_code rc;

    snprintf(face, sizeof face, "SECKILL_FACE=%s", stage->plan->face);
    rc = wrk_start(&wrk, &plan);
    if (rc != EXIT_VALID)
        return rc;
    rc = drive(loop, stage, &wrk);
    wrk_stop(&wrk, DRAIN_MS);
    return rc;
}

static double number(const json_t *object, const char *key)
{
    return json_number_value(json_object_get(object, key));
}

/* Print the counts and the latency of load.json in `dir` as a line of the table of the
 * steps.  The caller owns the JSON that is answered; NULL: it cannot be read. */
static json_t *closed_loop_print(FILE *out, const struct closed_loop *loop, int connections,
                                 const char *dir)
{
    char path[FILES_PATH_MAX];
    const json_t *latency;
    json_t *json;
    double seconds = (double)loop->duration_ms / 1000;

    files_join(path, dir, "load.json");
    json = files_read_json(path);
    latency = json_object_get(json, "latency_all");
    fprintf(out, "%9s %9.0f %9.2f %9.2f %9.2f %9.2f %9.2f  wrk, %d connections: a closed loop\n",
            "-", number(json, "answered") / seconds, number(latency, "p50_ms"),
            number(latency, "p99_ms"), number(latency, "p99.9_ms"),
            number(latency, "p99.99_ms"), number(latency, "max_ms"), connections);
    return json;
}

static void print_answers(const struct open_loop *loop)
{
    fputs("\nAnswers, all steps together\n", stdout);
    for (int i = 0; i < ANSWER_KINDS; i++)
        if (loop->answers.counts[i] > 0)
            printf("  %-22s %9" PRId64 "%s\n", answer_name((enum answer_kind)i),
                   loop->answers.counts[i],
                   answer_is_failure((enum answer_kind)i) ? "  counted as failed" : "");
}

/* "p99<50ms and failed<0.1%" */
static void print_objectives(const struct objectives *objectives)
{
    for (int i = 0; i < objectives->count; i++)
        printf("%s%s", i ? " and " : "", objectives->at[i].text);
}

/* Print the conclusion of the steps.  False: no step that counts reached its rate and holds the
 * objectives, or the load was interrupted. */
static bool print_conclusion(const struct open_loop *loop)
{
    struct objectives own = objectives_without_audit(&loop->objectives);
    const struct objectives *objectives = &own;

    if (interrupted())
        return false;
    if (loop->short_steps > 0)
        printf("\n%d of %d rates were not reached: the service answered %.0f requests per second "
               "at most.\n",
               loop->short_steps, loop->rates.count, loop->most_answered_per_s);
    if (loop->counted == 0) {
        printf("\nNo step counts: the load generator itself fell behind in each.  Ask for lower "
               "rates, or give the\nmachine less to do beside it.\n");
        return objectives->count == 0;
    }
    if (loop->counted < loop->rates.count)
        printf("\n%d of %d steps do not count, because the load generator itself fell behind.\n",
               loop->rates.count - loop->counted, loop->rates.count);
    if (objectives->count == 0)
        return true;
    if (loop->highest_rate > 0)
        printf(loop->short_steps > 0 ? "\nThe highest rate that was reached and holds "
                                     : "\nThe highest rate that holds ");
    else
        printf(loop->short_steps > 0 ? "\nNo rate here was reached and holds "
                                     : "\nNo rate here holds ");
    print_objectives(objectives);
    if (loop->highest_rate > 0)
        printf(": %" PRId64 " requests per second.\n", loop->highest_rate);
    else
        printf(".\n");
    return loop->highest_rate > 0;
}

/* rate.json has the objectives that the steps are held to.  The audit holds the others against
 * the whole run. */
static bool write_result(const struct rated_load *load, const struct run_plan *plan, json_t *wrk)
{
    char path[FILES_PATH_MAX];
    const struct open_loop *loop = &load->open;
    struct objectives own = objectives_without_audit(&loop->objectives);
    json_t *objectives = json_array(), *json;
    bool ok;

    for (int i = 0; i < own.count; i++)
        json_array_append_new(objectives, json_string(own.at[i].text));
    json = json_pack("{s:i, s:I, s:o, s:o, s:O, s:o*}", "connections", plan->connections,
                     "pause_ms", (json_int_t)loop->pause_ms, "objectives", objectives,
                     "highest_rate",
                     loop->highest_rate > 0 ? json_integer(loop->highest_rate) : json_null(),
                     "steps", loop->steps, "wrk", wrk);
    files_join(path, plan->dir, "rate.json");
    ok = json && files_write_json(path, json);
    if (!ok)
        eprintf("seckill load: cannot write %s: %s\n", path, strerror(errno));
    json_decref(json);
    return ok;
}

/* The audit's counts for the objectives that need them. */
static struct measured measured_by_audit(const struct run_result *result)
{
    struct measured measured = measured_nothing();

    figures_audit(measured.figures, &result->verdict);
    return measured;
}

static bool write_objectives(const struct rated_load *load, const char *dir,
                             const struct run_result *result)
{
    struct objectives of_audit = objectives_of_audit(&load->open.objectives);
    struct measured measured = measured_by_audit(result);
    char path[FILES_PATH_MAX];

    files_join(path, dir, "objectives.json");
    return objectives_write(path, &of_audit, &measured);
}

/* `beside` is the exit status of the run of wrk. */
static enum exit_code judge(const struct rated_load *load, const struct run_plan *plan,
                            const struct run_result *result, enum exit_code beside,
                            bool steps_hold)
{
    struct objectives of_audit = objectives_of_audit(&load->open.objectives);
    struct measured measured = measured_by_audit(result);
    bool found_others = beside == EXIT_INVALID ||
                        figures_found_others(&of_audit, &result->verdict);
    enum exit_code audited = verdict_worse_exit(run_verdict_exit(plan, result), beside);
    char says[OBJECTIVE_SAYS_MAX];
    bool hold = objectives_first_missed(&of_audit, &measured, says) == NULL;
    enum exit_code rc = objectives_exit(hold && steps_hold, audited, found_others);

    if (rc == EXIT_THRESHOLD && !hold)
        command_explain_exit(rc, "%s", says);
    objectives_print(stdout, &of_audit, &measured);
    return rc;
}

static void tell_programs(const struct rated_load *load, const struct run_plan *plan,
                          const struct run_result *result)
{
    struct objectives of_audit = objectives_of_audit(&load->open.objectives);
    struct measured measured = measured_by_audit(result);

    if (!json_lines_are_on())
        return;
    json_lines_write("run", json_pack("{s:s?, s:o, s:o, s:o, s:o}", "run", plan->title, "dir",
                                      json_lines_text(plan->dir), "highest_rate",
                                      load->open.highest_rate > 0
                                          ? json_integer(load->open.highest_rate)
                                          : json_null(),
                                      "verdict", plan->remote
                                          ? json_null()
                                          : audit_to_json(&result->verdict, "database"),
                                      "objectives", objectives_json(&of_audit, &measured)));
}

/* The same time, connections and pause with wrk; *json becomes its load.json, and `bug` the bug of
 * a process of this run, if there was one. */
static enum exit_code run_wrk(const struct rated_load *load, const struct run_plan *open_plan,
                              json_t **json, char bug[WHY_MAX])
{
    struct closed_loop closed = {.duration_ms = load->open.duration_ms,
                                 .pause_ms = load->open.pause_ms};
    struct run_result *result = memory_need(calloc(1, sizeof *result));
    struct run_plan plan = *open_plan;
    char dir[FILES_PATH_MAX];
    enum exit_code rc = EXIT_CANNOT_WRITE;

    plan.load = closed_loop_run;
    plan.load_arg = &closed;
    plan.dir = dir;
    if (runs_make(dir, load->out))
        rc = run_once(&plan, result);
    if (rc == EXIT_VALID) {
        *json = closed_loop_print(stdout, &closed, plan.connections, dir);
        rc = verdict_exit(result->verdict.valid);
        snprintf(bug, WHY_MAX, "%s", result->bug);
    }
    free(result);
    return rc;
}

enum exit_code rated_load(struct rated_load *load, const struct run_plan *given)
{
    struct run_result *result = memory_need(calloc(1, sizeof *result));
    struct run_plan plan = *given;
    json_t *wrk = NULL;
    enum exit_code rc, beside = EXIT_VALID;
    char bug[WHY_MAX] = "";
    bool steps_hold;

    plan.load = open_loop_run;
    plan.load_arg = &load->open;
    plan.duration_ms = load->open.ramp_ms + load->open.duration_ms * load->open.rates.count;
    rc = run_once(&plan, result);
    plan.duration_ms = load->open.duration_ms;
    if (rc == EXIT_VALID && load->is_beside_wrk)
        beside = run_wrk(load, &plan, &wrk, bug);
    if (!*result->bug)
        snprintf(result->bug, sizeof result->bug, "%s", bug);
    if (rc == EXIT_INTERRUPTED && json_array_size(load->open.steps) == 0) {
        runs_take_back(plan.dir);
    } else if (rc == EXIT_VALID || rc == EXIT_INTERRUPTED) {
        print_answers(&load->open);
        steps_hold = print_conclusion(&load->open);
        putchar('\n');
        run_print_verdict(&plan, result);
        printf("\nkept in %s\n", plan.dir);
        tell_programs(load, &plan, result);
        if (!write_result(load, &plan, wrk) || !write_objectives(load, plan.dir, result))
            rc = EXIT_CANNOT_WRITE;
        else if (rc == EXIT_VALID)
            rc = ends_exit(result, judge(load, &plan, result, beside, steps_hold));
    }
    json_decref(wrk);
    open_loop_free(&load->open);
    free(result);
    return rc;
}
