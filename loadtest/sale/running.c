/* SPDX-License-Identifier: MIT */
/* running.c -- the results of a run: its file run.json, the counts of its clients, its
 * verdict. */
#include "loadtest/sale/running.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "db/order_paths.h"
#include "loadtest/audit/settled.h"
#include "loadtest/check/write_log.h"
#include "loadtest/sale/service_settings.h"

enum { QUIET_TRIES = 150, DRAIN_MS = 60000 };

char *running_why(struct running *r)
{
    return r->plan->quiet ? r->result->reason : NULL;
}

static json_t *start_json(const struct start_times *start)
{
    return json_pack("{s:i, s:i, s:f}", "threads", start->fired, "by_signal", start->by_signal,
                     "spread_ms", start->spread_ms);
}

int64_t running_wall_us(void)
{
    struct timespec now;

    clock_gettime(CLOCK_REALTIME, &now);
    return now.tv_sec * INT64_C(1000000) + now.tv_nsec / 1000;
}

static double since_begin_ms(const struct running *r, int64_t at_ns)
{
    return (double)(at_ns - r->begin_ns) / 1e6;
}

/* When the load began, and from then in milliseconds: the fault, and the first "sold out". */
static json_t *times_json(const struct running *r)
{
    json_t *json = json_pack("{s:I}", "began_us", (json_int_t)r->began_us);

    if (r->result->orders_per_s > 0)
        json_object_set_new(json, "orders_per_s", json_real(r->result->orders_per_s));
    if (r->sold_out_ns)
        json_object_set_new(json, "sold_out_ms", json_real(since_begin_ms(r, r->sold_out_ns)));
    if (r->fault_begin_ns)
        json_object_set_new(json, "fault_from_ms",
                            json_real(since_begin_ms(r, r->fault_begin_ns)));
    if (r->fault_begin_ns && r->hazard_over_ns)
        json_object_set_new(json, "fault_to_ms",
                            json_real(since_begin_ms(r, r->hazard_over_ns)));
    return json;
}

/* The pid of each process by its name.  Each process has a file of records with its pid. */
static json_t *pids_json(const struct running *r)
{
    json_t *json = json_object();

    for (int i = 0; i < r->service_count; i++)
        json_object_set_new(json, r->services[i].name,
                            json_integer(r->services[i].pid));
    return json;
}

bool running_write(struct running *r, bool is_settled)
{
    const struct run_plan *plan = r->plan;
    char path[FILES_PATH_MAX];
    json_t *flags = json_array(), *vouchers = json_array(), *json;
    bool ok, has_run = r->service_count > 0;

    for (const char *const *flag = plan->flags; flag && *flag; flag++)
        json_array_append_new(flags, json_string(*flag));
    for (int i = 0; i < plan->voucher_count; i++)
        json_array_append_new(vouchers, json_integer(r->vouchers[i]));
    json = json_pack("{s:s*, s:s, s:s*, s:s, s:o, s:o, s:I, s:i, s:i, s:o*, s:b, s:b, s:s, "
                     "s:o*, s:b, s:o*, s:o*}",
                     "experiment", plan->experiment, "hazard", plan->hazard->name,
                     "lock", plan->lock, "lab", plan->lab->id, "seckilld_flags", flags,
                     "vouchers", vouchers, "stock", (json_int_t)plan->stock,
                     "processes", plan->processes, "connections", plan->connections,
                     "start", r->result->start.fired ? start_json(&r->result->start) : NULL,
                     "settled", is_settled, "services_ended_well",
                     r->services_ended_well, "hazard_note", r->scene.note, "times",
                     r->began_us ? times_json(r) : NULL, "front", plan->has_front, "pids",
                     has_run ? pids_json(r) : NULL, "ledgers",
                     has_run ? ledger_list(plan->dir) : NULL);
    files_join(path, plan->dir, "run.json");
    ok = json && files_write_json(path, json);
    json_decref(json);
    if (!ok)
        why_say(running_why(r), "cannot write %s: %s", path, strerror(errno));
    return ok;
}

void running_show(struct running *r)
{
    const struct run_plan *plan = r->plan;
    char url[256];
    struct live_run run = {.title = plan->title ? plan->title : plan->lock ? plan->lock : "a run",
                           .url = url,
                           .vouchers = r->vouchers,
                           .voucher_count = r->voucher_count_of_first,
                           .limit_ms = plan->duration_ms};

    lab_database_url(plan->lab, url, sizeof url);
    live_begin(plan->live, &run);
}

static int count_dead(const struct service *services, int count)
{
    int dead = 0;

    for (int i = 0; i < count; i++)
        dead += !child_runs(&services[i].child);
    return dead;
}

void running_tell(struct running *r)
{
    const struct control *control = &r->wrk.control;
    struct live_counts counts = {0};

    if (!live_wants(r->plan->live))
        return;
    counts.sent = control_sum(control, CONTROL_SENT);
    counts.answered = control_sum(control, CONTROL_ANSWERED);
    counts.accepted = control_sum(control, CONTROL_ACCEPTED);
    counts.sold_out = control_sum(control, CONTROL_SOLD_OUT);
    counts.dead = count_dead(r->services, r->service_count);
    control_add_latency(control, counts.buckets);
    live_feed(r->plan->live, &counts);
}

void running_read_load(struct running *r)
{
    char path[FILES_PATH_MAX];
    const json_t *outcomes;
    json_t *json;

    files_join(path, r->plan->dir, "load.json");
    json = access(path, R_OK) == 0 ? files_read_json(path) : NULL;
    outcomes = json_object_get(json, "outcomes");
    r->result->sent = json_integer_value(json_object_get(json, "sent"));
    r->result->unanswered = json_integer_value(json_object_get(json, "unanswered"));
    r->result->told = json_integer_value(json_object_get(outcomes, "accepted")) +
                      json_integer_value(json_object_get(outcomes, "queued"));
    r->result->p99_ms = json_number_value(
        json_object_get(json_object_get(json, "latency_accepted"), "p99_ms"));
    json_decref(json);
}

bool running_wait_drained(const struct running *r)
{
    char name[SERVICE_STREAM_MAX], why[SETTLED_WHY_MAX];
    bool is_drained = !service_settings_stream(r->plan->dir, ORDER_PATH_STREAM_NAME, name) ||
                      settled_wait_drained(r->plan->lab, name, DRAIN_MS, false, why);

    if (!is_drained && !r->plan->quiet)
        eprintf("seckill: %s\n", why);
    return is_drained;
}

bool running_wait_settled(struct running *r)
{
    bool quiet = r->services_ended_well;

    for (int i = 0; i < QUIET_TRIES && !quiet; i++) {
        if (!audit_db_quiet(r->plan->db, &quiet))
            return false;
        if (!quiet)
            usleep(100000);
    }
    return quiet;
}

static bool has_error(const struct evidence_reading *reading)
{
    for (size_t i = 0; i < reading->count; i++)
        if (*lab_db_error(reading->dbs[i]))
            return true;
    return false;
}

/* Export the orders of the sale and the record of writes, from one snapshot of the
 * database.  EXIT_UNAVAILABLE: the database could not be read; EXIT_CANNOT_WRITE: the files could
 * not be written. */
static enum exit_code export_evidence(const struct running *r)
{
    const struct run_plan *plan = r->plan;
    size_t count = (size_t)plan->voucher_count;
    struct evidence_reading reading = {0};
    char urls[LAB_DATABASE_URLS_MAX];
    bool is_written, is_read;

    lab_database_urls(plan->lab, urls);
    is_read = evidence_begin(&reading, urls);
    is_written =
        is_read && evidence_export(&reading, r->vouchers, count, plan->dir) &&
        (!plan->record || write_log_export(reading.dbs[0], r->vouchers, count, plan->dir));
    is_read = is_read && !has_error(&reading);
    is_read = evidence_end(&reading) && is_read;
    return !is_read      ? EXIT_UNAVAILABLE
           : !is_written ? EXIT_CANNOT_WRITE
                         : EXIT_VALID;
}

static enum exit_code write_verdict(struct running *r, const struct audit_input *input)
{
    char path[FILES_PATH_MAX];
    json_t *json;
    bool ok;

    audit_judge(input, &r->result->verdict);
    json = audit_to_json(&r->result->verdict, "the database, after the run");
    files_join(path, r->plan->dir, "verdict.json");
    ok = files_write_json(path, json);
    json_decref(json);
    return ok ? EXIT_VALID : EXIT_CANNOT_WRITE;
}

/* A reason that was found before stays. */
static void say_no_audit(struct running *r, const char *because)
{
    if (!*r->result->reason)
        why_say(running_why(r), "the run could not be audited: %s", because);
}

static bool has_order(const struct evidence *evidence, const char *process)
{
    for (size_t i = 0; i < evidence->order_count; i++)
        if (strcmp(evidence->orders[i].process, process) == 0)
            return true;
    return false;
}

/* Count the processes that had a part in the sale, and the late writes that were refused. */
static void count_work(struct running *r, const struct evidence *evidence)
{
    struct run_result *result = r->result;

    result->processes = r->service_count;
    for (int i = 0; i < r->service_count; i++) {
        const struct service *s = &r->services[i];

        result->processes_at_work += s->refused > 0 || has_order(evidence, s->name);
        result->refused_late += s->fenced;
    }
}

/* Audit what the files of the run say. */
static enum exit_code audit_files(struct running *r, bool is_settled)
{
    struct evidence evidence = {0};
    struct ledger ledger = {0};
    struct audit_input input;
    enum exit_code rc = EXIT_UNAVAILABLE;

    if (!evidence_from_files(&evidence, r->plan->dir)) {
        say_no_audit(r, "its orders.tsv or stock.json cannot be read");
    } else if (!ledger_read(&ledger, r->plan->dir)) {
        say_no_audit(r, "a ledger of it cannot be read");
    } else {
        ledger_note_missing(&ledger, r->plan->dir);
        count_work(r, &evidence);
        input = evidence_input(&evidence, &ledger, is_settled);
        rc = write_verdict(r, &input);
    }
    ledger_free(&ledger);
    evidence_free(&evidence);
    return rc;
}

enum exit_code running_judge(struct running *r, bool is_settled)
{
    lab_db *db = r->plan->db;
    enum exit_code rc = export_evidence(r);

    if (rc == EXIT_VALID)
        rc = audit_files(r, is_settled);
    else if (rc == EXIT_UNAVAILABLE)
        say_no_audit(r, *lab_db_error(db) ? lab_db_error(db) : "the database cannot be read");
    if (rc == EXIT_CANNOT_WRITE)
        say_no_audit(r, "a file of it cannot be written");
    return rc;
}
