/* SPDX-License-Identifier: MIT */
/* open_loop.c -- the load of a run at fixed rates, step after step. */
#include "loadtest/open_loop/open_loop.h"

#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

#include "base/text/duration.h"
#include "loadtest/kit/command.h"
#include "loadtest/kit/interrupt.h"
#include "loadtest/kit/json_lines.h"
#include "loadtest/kit/memory.h"
#include "loadtest/kit/run_directory.h"
#include "loadtest/open_loop/buyers.h"
#include "loadtest/open_loop/step.h"
#include "loadtest/open_loop/wrk_figures.h"
#include "loadtest/sale/ends.h"
#include "loadtest/sale/service.h"
#include "loadtest/sale/wrk.h"

/* ---- every process of the service stopped once, for a known time ---- */

struct pause {
    const struct service *services;
    int service_count;
    int64_t from_ns, to_ns; /* since the load began; equal: there is no pause           */
    bool has_begun, has_ended;
};

static void signal_all(const struct pause *pause, int signal)
{
    for (int i = 0; i < pause->service_count; i++)
        child_signal(&pause->services[i].child, signal);
}

/* Let them go on if they are stopped, whatever the time. */
static void pause_end(struct pause *pause)
{
    if (pause->has_begun && !pause->has_ended) {
        pause->has_ended = true;
        signal_all(pause, SIGCONT);
    }
}

/* Stop the processes when from_ns has come, and let them go on when to_ns has. */
static void pause_tick(struct pause *pause, int64_t since_begin_ns)
{
    if (pause->from_ns == pause->to_ns)
        return;
    if (!pause->has_begun && since_begin_ns >= pause->from_ns) {
        pause->has_begun = true;
        signal_all(pause, SIGSTOP);
    }
    if (since_begin_ns >= pause->to_ns)
        pause_end(pause);
}

/* ---- the table of the steps ---- */

static void step_table_head(FILE *out, const struct objectives *objectives)
{
    fprintf(out,
            "requests per second              latency in ms, from when a request was due       "
            "         generator\n"
            "%9s %9s %9s %9s %9s %9s %9s %9s %9s %9s%s\n",
            "asked", "answered", "p50", "p99", "p99.9", "p99.99", "max", "failed %", "lag p99",
            "processor", objectives->count > 0 ? "  objectives" : "");
    fflush(out);
}

static void print_verdict(FILE *out, const struct objectives *objectives,
                          const struct step_result *step)
{
    const char *flaw = step_flaw(step);
    char says[OBJECTIVE_SAYS_MAX];

    if (flaw) {
        fprintf(out, "  not counted: %s", flaw);
        return;
    }
    if (step_falls_short(step))
        fputs("  rate not reached", out);
    if (!step_holds(step, objectives, says))
        fprintf(out, "  %s", says);
    else if (objectives_without_audit(objectives).count > 0)
        fputs("  hold", out);
}

/* Print a step, and whether the step holds the objectives; the first objective that the step
 * misses is named. */
static void step_table_row(FILE *out, const struct objectives *objectives,
                           const struct step_result *step)
{
    fprintf(out, "%9" PRId64 " %9.0f %9.2f %9.2f %9.2f %9.2f %9.2f %9.3f %9.2f %8.0f %%",
            step->rate, step->answered_per_s, step_quantile_ms(step, 0.5),
            step_quantile_ms(step, 0.99), step_quantile_ms(step, 0.999),
            step_quantile_ms(step, 0.9999), step_max_ms(step), step_failed(step) * 100,
            latency_quantile_ms(&step->lag, 0.99), step->processor * 100);
    print_verdict(out, objectives, step);
    fputc('\n', out);
    fflush(out);
}

enum { DRAIN_MS = 10000, NICE = -10, SAME_USERS = 100 };

/* A run of the steps. */
struct driving {
    struct open_loop *loop;
    const struct run_stage *stage;
    struct pause pause;
    int64_t sent, answered, unanswered;
    const struct step_result *step;   /* that goes on; NULL: none                       */
    int64_t told[BUCKETS];            /* latencies of the steps before                  */
    int64_t told_accepted, told_sold_out;
};

/* Show the counts of the steps before and of this one. */
static void tell(struct driving *d)
{
    const struct step_result *step = d->step;
    struct live_counts counts = {.sent = d->sent, .answered = d->answered};

    memcpy(counts.buckets, d->told, sizeof counts.buckets);
    counts.accepted = d->told_accepted;
    counts.sold_out = d->told_sold_out;
    if (step) {
        counts.sent += step->sent;
        counts.answered += answers_total(&step->answers);
        counts.accepted += answers_accepted(&step->answers);
        counts.sold_out += step->answers.counts[ANSWER_SOLD_OUT];
        latency_add_to(&step->latency, counts.buckets);
    }
    for (int i = 0; i < d->stage->service_count; i++)
        counts.dead += !child_runs(&d->stage->services[i].child);
    live_feed(d->stage->plan->live, &counts);
}

static void tick(void *arg, int64_t since_begin_ns)
{
    struct driving *d = arg;

    if (live_wants(d->stage->plan->live))
        tell(d);
    pause_tick(&d->pause, since_begin_ns);
}

/* The pause stands in the middle of the step. */
static struct pause pause_of(const struct driving *d)
{
    int64_t middle_ns = d->loop->duration_ms * 1000000 / 2;

    return (struct pause){.services = d->stage->services,
                          .service_count = d->stage->service_count,
                          .from_ns = middle_ns,
                          .to_ns = middle_ns + d->loop->pause_ms * 1000000};
}

static void keep(struct driving *d, const struct step_result *step)
{
    struct open_loop *loop = d->loop;

    for (int i = 0; i < ANSWER_KINDS; i++)
        loop->answers.counts[i] += step->answers.counts[i];
    d->step = NULL;
    d->sent += step->sent;
    d->answered += answers_total(&step->answers);
    d->told_accepted += answers_accepted(&step->answers);
    d->told_sold_out += step->answers.counts[ANSWER_SOLD_OUT];
    latency_add_to(&step->latency, d->told);
    d->unanswered += step->unanswered;
    loop->counted += step_flaw(step) == NULL;
    loop->short_steps += !step->is_ramp && step_falls_short(step);
    if (step->answered_per_s > loop->most_answered_per_s)
        loop->most_answered_per_s = step->answered_per_s;
    if (step_sustains(step, &loop->objectives) && step->rate > loop->highest_rate)
        loop->highest_rate = step->rate;
    json_array_append_new(loop->steps, step_json(step));
}

/* Run the step number `i`; -1 is the ramp before the first. */
static enum exit_code open_loop_step(struct driving *d, struct generator *generator, int i,
                                     struct step_result *step)
{
    const struct open_loop *loop = d->loop;
    struct live *live = d->stage->plan->live;
    int64_t rate = rate_of(&loop->rates, i < 0 ? 0 : i);
    enum exit_code rc = EXIT_VALID;

    d->pause = i < 0 ? (struct pause){0} : pause_of(d);
    d->step = step;
    if (!(i < 0 ? generator_ramp(generator, rate, loop->ramp_ms, DRAIN_MS, step)
                : generator_run(generator, rate, loop->duration_ms, DRAIN_MS, step))) {
        eprintf("seckill load: the requests could not be sent: %s\n", strerror(errno));
        rc = EXIT_UNAVAILABLE;
    }
    pause_end(&d->pause);
    keep(d, step);
    live_pause(live);
    step_table_row(stdout, &loop->objectives, step);
    live_resume(live);
    if (json_lines_are_on())
        json_lines_write("step", step_json(step));
    return interrupted() ? EXIT_INTERRUPTED : rc;
}

static enum exit_code run_steps(struct driving *d, struct generator *generator)
{
    struct step_result *step = memory_need(calloc(1, sizeof *step));
    enum exit_code rc = EXIT_VALID;
    struct live *live = d->stage->plan->live;
    int nice_before = getpriority(PRIO_PROCESS, 0);

    /* A generator that waits for a processor would measure its own delay.  Without the right to
     * raise the priority, the load goes on with the old one. */
    (void)setpriority(PRIO_PROCESS, 0, NICE);
    live_pause(live);
    step_table_head(stdout, &d->loop->objectives);
    live_resume(live);
    live_set_phase(live, LIVE_SELLING);
    for (int i = d->loop->ramp_ms > 0 ? -1 : 0; i < d->loop->rates.count && rc == EXIT_VALID; i++)
        rc = open_loop_step(d, generator, i, step);
    (void)setpriority(PRIO_PROCESS, 0, nice_before);
    free(step);
    return rc;
}

/* Write the counts under the names that wrk's script gives them. */
static bool write_load(const struct driving *d)
{
    char path[FILES_PATH_MAX];
    json_t *json = json_pack("{s:I, s:I, s:I, s:o, s:O}", "sent", (json_int_t)d->sent,
                             "answered", (json_int_t)d->answered, "unanswered",
                             (json_int_t)d->unanswered, "outcomes",
                             answers_json(&d->loop->answers), "steps", d->loop->steps);
    bool ok;

    files_join(path, d->stage->dir, "load.json");
    ok = json && files_write_json(path, json);
    json_decref(json);
    return ok;
}

/* A run_load_fn: `arg` is a struct open_loop.  Each step is printed on stdout as it ends;
 * load.json in the run's directory has what wrk's has. */
static enum exit_code open_loop_run(void *arg, const struct run_stage *stage)
{
    struct driving d = {.loop = arg, .stage = stage};
    const struct remote_service *remote = stage->plan->remote;
    int ports[SERVICE_MAX] = {0};
    struct buyers_plan buying = {.dir = stage->dir,
                                 .keys = d.loop->keys,
                                 .face = stage->plan->face,
                                 .ports = ports,
                                 .vouchers = stage->vouchers,
                                 .voucher_count = stage->voucher_count,
                                 .remote = remote,
                                 .tick = tick,
                                 .tick_arg = &d,
                                 .same_users = stage->plan->is_per_user ? SAME_USERS : 0};
    struct generator_client client;
    struct generator_plan sending = {.ports = ports,
                                     .targets = remote ? 1 : stage->entry_count,
                                     .address = remote ? &remote->address : NULL,
                                     .connections = stage->plan->connections,
                                     .client = &client};
    struct generator *generator = NULL;
    struct buyers *buyers;
    enum exit_code rc;

    d.loop->steps = json_array();
    for (int i = 0; i < stage->entry_count; i++)
        ports[i] = service_port(&stage->entries[i]);
    buyers = buyers_open(&buying);
    if (buyers) {
        client = buyers_client(buyers);
        generator = generator_open(&sending);
    }
    rc = buyers ? EXIT_UNAVAILABLE : EXIT_CANNOT_WRITE;
    if (generator)
        rc = run_steps(&d, generator);
    else
        eprintf("seckill load: cannot %s: %s\n",
                buyers ? "connect to the service" : "write the ledger", strerror(errno));
    generator_close(generator);
    if (!buyers_close(buyers) || !write_load(&d)) {
        eprintf("seckill load: cannot write into %s: %s\n", stage->dir, strerror(errno));
        rc = EXIT_CANNOT_WRITE;
    }
    return rc;
}

int64_t open_loop_requests(const struct open_loop *loop)
{
    int64_t sum = rate_of(&loop->rates, 0) * loop->ramp_ms / 2000 + (loop->ramp_ms > 0);

    for (int i = 0; i < loop->rates.count; i++)
        sum += rate_of(&loop->rates, i) * loop->duration_ms / 1000;
    return sum;
}

/* Free what the run made.  A zeroed struct is fine. */
static void open_loop_free(struct open_loop *loop)
{
    json_decref(loop->steps);
    loop->steps = NULL;
}

/* ---- the closed loop beside the steps ---- */

struct closed_loop {
    int64_t duration_ms;
    int64_t pause_ms; /* the service is stopped for, in the middle; 0: never            */
};

enum { START_MS = 30000, POLL_MS = 2 };

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
