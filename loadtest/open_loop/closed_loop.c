/* SPDX-License-Identifier: MIT */
/* closed_loop.c -- wrk for the time of one step. */
#include "loadtest/open_loop/closed_loop.h"

#include <inttypes.h>
#include <string.h>

#include "base/text/duration.h"
#include "loadtest/kit/interrupt.h"
#include "loadtest/open_loop/pause.h"
#include "loadtest/sale/wrk.h"

enum { START_MS = 30000, DRAIN_MS = 10000, POLL_MS = 2 };

/* The addresses or the vouchers, with commas. */
static void join_urls(const struct run_stage *stage, char *out, size_t size)
{
    size_t used = 0;

    for (int i = 0; i < stage->entry_count && used < size; i++)
        used += (size_t)snprintf(out + used, size - used, "%s%s", i ? "," : "",
                                 stage->entries[i].orders_url);
}

static void join_vouchers(const struct run_stage *stage, char *out, size_t size)
{
    size_t used = 0;

    for (int i = 0; i < stage->voucher_count && used < size; i++)
        used += (size_t)snprintf(out + used, size - used, "%s%" PRId64, i ? "," : "",
                                 stage->vouchers[i]);
}

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

enum exit_code closed_loop_run(void *arg, const struct run_stage *stage)
{
    const struct closed_loop *loop = arg;
    char urls[SERVICE_MAX * SERVICE_URL_MAX], vouchers[512], face[48];
    struct wrk_plan plan = {
        .lab = stage->plan->lab,
        .dir = stage->dir,
        .script = loop->is_same_user ? "one_per_user.lua" : "order.lua",
        .urls = urls,
        .vouchers = vouchers,
        .clients = stage->service_count,
        .threads = 1,
        .connections = loop->connections,
        .duration_ms = loop->duration_ms,
        .keep_ledger = true,
        .extra = {face},
        .why = stage->why,
    };
    struct wrk wrk;
    enum exit_code rc;

    join_urls(stage, urls, sizeof urls);
    join_vouchers(stage, vouchers, sizeof vouchers);
    snprintf(face, sizeof face, "SECKILL_FACE=%s", loop->face);
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

json_t *closed_loop_print(FILE *out, const struct closed_loop *loop, const char *dir)
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
            number(latency, "p99.99_ms"), number(latency, "max_ms"), loop->connections);
    return json;
}
