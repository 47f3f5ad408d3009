/* SPDX-License-Identifier: MIT */
/* open_loop.c -- the load of a run at fixed rates, step after step. */
#include "loadtest/open_loop/open_loop.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

#include "loadtest/kit/interrupt.h"
#include "loadtest/kit/json_lines.h"
#include "loadtest/kit/memory.h"
#include "loadtest/open_loop/buyers.h"
#include "loadtest/open_loop/pause.h"
#include "loadtest/open_loop/step.h"

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

enum exit_code open_loop_run(void *arg, const struct run_stage *stage)
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

void open_loop_free(struct open_loop *loop)
{
    json_decref(loop->steps);
    loop->steps = NULL;
}
