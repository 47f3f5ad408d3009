/* SPDX-License-Identifier: MIT */
/* run.c -- one run, from fresh vouchers to the verdict. */
#include "loadtest/sale/run.h"

#include <errno.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/text/duration.h"
#include "loadtest/audit/report.h"
#include "loadtest/kit/command.h"
#include "loadtest/kit/http_client.h"
#include "loadtest/kit/interrupt.h"
#include "loadtest/kit/shell.h"
#include "loadtest/sale/ends.h"
#include "loadtest/sale/running.h"
#include "loadtest/sale/service.h"
#include "loadtest/sale/service_settings.h"
#include "loadtest/sale/users.h"

/* ---- the requests that each layer stopped ---- */

enum { ANSWER_MS = 5000, LAYER_MAX = 64 };

static const char metric[] = "seckill_orders_stopped_total{";

/* A line is seckill_orders_stopped_total{layer="lock",stock_guard="conditional"} 12 */
static void add_line(const char *line, json_t *layers)
{
    const char *name = strstr(line, "layer=\""), *end = strchr(line, '}');
    char layer[LAYER_MAX];
    size_t length;

    if (!name || !end || name > end)
        return;
    name += strlen("layer=\"");
    length = strcspn(name, "\"");
    if (length >= sizeof layer)
        return;
    memcpy(layer, name, length);
    layer[length] = '\0';
    json_object_set_new(layers, layer,
                        json_integer(json_integer_value(json_object_get(layers, layer)) +
                                     strtoll(end + 1, NULL, 10)));
}

/* Add the counts in a text of metrics to `layers`, an object of numbers by layer. */
static void add_counts(const char *metrics, json_t *layers)
{
    for (const char *line = metrics; line; line = strchr(line, '\n')) {
        line += *line == '\n';
        if (strncmp(line, metric, sizeof metric - 1) == 0)
            add_line(line, layers);
    }
}

static int64_t count_of(const json_t *layers, const char *layer)
{
    return json_integer_value(json_object_get(layers, layer));
}

/* The orders that were refused after their process had asked for the lock. */
static int64_t refused_by_lock(const json_t *layers)
{
    static const char *const NAMES[] = {"lock", "stock-guard", "count", "unique", "fence"};
    int64_t sum = 0;

    for (size_t i = 0; i < sizeof NAMES / sizeof NAMES[0]; i++)
        sum += count_of(layers, NAMES[i]);
    return sum;
}

/* Add the counts of a process to `layers`, and those that say something of its lock to the
 * process. */
static void take_counts(struct service *service, const char *metrics, json_t *layers)
{
    int64_t refused = refused_by_lock(layers), fenced = count_of(layers, "fence");

    add_counts(metrics, layers);
    service->refused = refused_by_lock(layers) - refused;
    service->fenced = count_of(layers, "fence") - fenced;
}

/* Ask each process for its metric seckill_orders_stopped_total, and write the sums into
 * stopped.json of `dir`: {"processes": 2, "asked": 2, "layers": {"lock": 12, ...}}.  `asked`
 * counts the processes that answered; a layer that stopped nothing is 0.  Set `refused` and
 * `fenced` of each service; both are 0 if it did not answer.
 * False (and errno): the file cannot be written. */
static bool stopped_write(const char *dir, struct service *services, int count)
{
    json_t *layers = json_object(), *json;
    char path[FILES_PATH_MAX], url[SERVICE_URL_MAX + sizeof "/metrics"];
    int asked = 0;
    bool ok;

    for (int i = 0; i < count; i++) {
        char *metrics;

        snprintf(url, sizeof url, "%s/metrics", services[i].admin_url);
        metrics = child_runs(&services[i].child)
                      ? http_client_read(url, services[i].admin_token, ANSWER_MS)
                      : NULL;
        if (metrics)
            take_counts(&services[i], metrics, layers);
        asked += metrics != NULL;
        free(metrics);
    }
    json = json_pack("{s:i, s:i, s:o}", "processes", count, "asked", asked, "layers", layers);
    files_join(path, dir, "stopped.json");
    ok = json && files_write_json(path, json);
    json_decref(json);
    return ok;
}

/* ---- the vouchers of a run ---- */

/* The partition of a voucher of the run, all vouchers of a partition one after another: so those
 * of partition 0 are first.  A hazard aims at vouchers of partition 0, and the experiment on one
 * order per user counts in it. */
static int partition_of(const struct run_plan *plan, int i)
{
    if (plan->hazard->needs_faults || plan->is_per_user || plan->record)
        return 0;
    return (int)((int64_t)i * plan->lab->partition_count / plan->voucher_count);
}

/* False: `error` says why. */
static bool issue_in(const struct run_plan *plan, int partition, int64_t *id, char error[512])
{
    struct lab_voucher voucher = {.title = "a run of the laboratory", .stock = plan->stock};
    char url[LAB_DATABASE_URL_MAX];
    lab_db *db = NULL;
    bool ok;

    lab_partition_url(plan->lab, partition, url, sizeof url);
    if (partition > 0 && !lab_db_open(&db, url, error, 512))
        return false;
    ok = lab_issue_voucher(db ? db : plan->db, &voucher, id);
    if (!ok)
        snprintf(error, 512, "%s", lab_db_error(db ? db : plan->db));
    lab_db_close(db);
    return ok;
}

/* Make the vouchers of the run: r->vouchers, voucher_list and voucher_count_of_first.  False:
 * running_why() has the reason. */
static bool run_issue_vouchers(struct running *r)
{
    const struct run_plan *plan = r->plan;
    size_t used = 0;

    for (int i = 0; i < plan->voucher_count; i++) {
        int partition = partition_of(plan, i);
        char error[512];

        if (!issue_in(plan, partition, &r->vouchers[i], error)) {
            why_say(running_why(r), "cannot make a voucher: %s", error);
            return false;
        }
        r->voucher_count_of_first += partition == 0;
        used += (size_t)snprintf(r->voucher_list + used, sizeof r->voucher_list - used,
                                 "%s%" PRId64, i ? "," : "", r->vouchers[i]);
    }
    return true;
}

enum {
    POLL_MS = 4,
    /* the limits of a busy machine; each step ends as soon as it is done */
    FIRE_MS = 30000,
    DRAIN_MS = 20000,
    DRAIN_INTERRUPTED_MS = 3000,
    SPARE_WORKERS = 2,
    AFTER_HAZARD_MS =
        150, /* for the threads that the hazard released, until they end, and for others
              * to see the effect */
    FIRST_SLOT_MS =
        150, /* from arming to the target's turn: time for wrk to connect  */
    ENOUGH_ORDERS = 10,
    RUN_URLS_MAX = SERVICE_MAX * SERVICE_URL_MAX, /* room for a remote service's, too */
};

static enum exit_code start_services(struct running *r)
{
    const struct run_plan *plan = r->plan;
    char record[FILES_PATH_MAX];
    struct service_plan services = {
        .lab = plan->lab,
        .dir = plan->dir,
        .flags = plan->flags,
        .count = plan->processes,
        .workers =
            (plan->connections + plan->processes - 1) / plan->processes + SPARE_WORKERS,
        .allow_faults = plan->hazard->needs_faults,
        .is_behind_front = plan->has_front,
        .record_dir = plan->record ? record : NULL,
        .why = running_why(r),
    };
    enum exit_code rc;

    if (plan->transacts_at_once)
        services.database_connections = services.workers;
    files_join(record, plan->dir, "locks");
    if (plan->record && !(r->history = fault_history_open(record))) {
        why_say(running_why(r), "cannot begin the record of the locks in %s", record);
        return EXIT_CANNOT_WRITE;
    }
    rc = service_start(r->services, &services);
    if (rc != EXIT_VALID)
        return rc;
    r->service_count = plan->processes;
    if (!service_settings_write(&services)) {
        why_say(running_why(r), "cannot write into %s: %s", plan->dir, strerror(errno));
        rc = EXIT_CANNOT_WRITE;
    } else if (plan->has_front) {
        rc = front_start(&r->front, r->services, r->service_count, plan->dir, running_why(r));
    }
    if (rc != EXIT_VALID) {
        service_stop(r->services, r->service_count);
        r->service_count = 0;
    }
    return rc;
}

/* The lock that the hazard aims at: the voucher's, or that of the user whose turn comes
 * while the load runs. */
static bool arm_hazard(struct running *r)
{
    const struct run_plan *plan = r->plan;
    struct hazard_scene *scene = &r->scene;

    *scene = (struct hazard_scene){
        .services = r->services,
        .service_count = r->service_count,
        .db = plan->db,
        .first_voucher = r->vouchers[0],
        .last_voucher = r->vouchers[r->voucher_count_of_first - 1],
        .lease_ms = plan->lease_ms,
        .enough = plan->stock / 4 < ENOUGH_ORDERS ? plan->stock / 4 + 1 : ENOUGH_ORDERS,
        .has_gap = plan->has_gap,
        .stays_out = plan->stays_out,
        .history = r->history,
        .stage_ns = monotonic_ns(),
    };
    if (plan->is_per_user) {
        int64_t slot = (monotonic_ns() / 1000000 + FIRST_SLOT_MS) / plan->slot_ms;

        scene->user = slot % plan->slot_users + 1;
        snprintf(scene->key, sizeof scene->key, "lock:order:%" PRId64, scene->user);
    } else {
        snprintf(scene->key, sizeof scene->key, "lock:voucher:%" PRId64,
                 r->vouchers[0]);
    }
    if (!hazard_arm(plan->hazard, scene))
        return false;
    if (!scene->aims)
        scene->user = 0;
    return true;
}

/* The URLs that clients send to, with commas. */
static void run_list_urls(const struct running *r, char urls[RUN_URLS_MAX])
{
    size_t used = 0;

    for (int i = 0; i < (r->plan->has_front ? 1 : r->service_count); i++)
        used += (size_t)snprintf(urls + used, RUN_URLS_MAX - used, "%s%s", i ? "," : "",
                                 r->plan->has_front ? r->front.orders_url
                                                    : r->services[i].orders_url);
    if (r->plan->remote)
        snprintf(urls, RUN_URLS_MAX, "%s", r->plan->remote->url);
}

static enum exit_code start_load(struct running *r)
{
    const struct run_plan *plan = r->plan;
    char urls[RUN_URLS_MAX], slot[48], users[48], face[48];
    char tokens[FILES_PATH_MAX + sizeof "SECKILL_TOKENS="];
    struct wrk_plan wrk = {
        .lab = plan->lab,
        .dir = plan->dir,
        .script = plan->is_per_user ? "one_per_user.lua" : "order.lua",
        .urls = urls,
        .vouchers = r->voucher_list,
        .clients = plan->processes,
        .threads = 1,
        .connections = plan->connections,
        .duration_ms = plan->duration_ms,
        .target = r->scene.user,
        .keep_ledger = true,
        .extra = {face, slot, users, plan->remote ? tokens : NULL},
        .why = running_why(r),
    };

    run_list_urls(r, urls);
    if (plan->remote)
        snprintf(tokens, sizeof tokens, "SECKILL_TOKENS=%s", plan->remote->tokens_path);
    snprintf(face, sizeof face, "SECKILL_FACE=%s", plan->face);
    snprintf(slot, sizeof slot, "SECKILL_SLOT_MS=%d", plan->slot_ms);
    snprintf(users, sizeof users, "SECKILL_SLOT_USERS=%d", plan->slot_users);
    return wrk_start(&r->wrk, &wrk);
}

static int64_t since_begin_ms(const struct running *r)
{
    return (monotonic_ns() - r->begin_ns) / 1000000;
}

/* The run begins after wrk has read its users and connected. */
static enum exit_code wait_fired(struct running *r)
{
    int64_t by_ns = monotonic_ns() + FIRE_MS * 1000000LL;
    struct start_times start;

    for (start_signal_read(&r->wrk.control, &start); start.fired < r->wrk.client_count;
         start_signal_read(&r->wrk.control, &start)) {
        if (!wrk_runs(&r->wrk))
            return wrk_explain_end(&r->wrk, r->plan->dir, running_why(r));
        if (monotonic_ns() > by_ns) {
            why_say(running_why(r), "%d of %d wrk processes sent nothing for %d s",
                    r->wrk.client_count - start.fired, r->wrk.client_count,
                    FIRE_MS / 1000);
            return EXIT_UNAVAILABLE;
        }
        if (!interrupt_sleep_ms(POLL_MS))
            return EXIT_INTERRUPTED;
    }
    return EXIT_VALID;
}

/* True: more load would show nothing new, because the voucher is sold out, or, in the
 * experiment on one order per user, every user has tried every voucher. */
static bool is_enough(struct running *r)
{
    const struct run_plan *plan = r->plan;
    int64_t sold_out = control_sum(&r->wrk.control, CONTROL_SOLD_OUT);
    int64_t calm_ms = (monotonic_ns() - r->hazard_over_ns) / 1000000;

    if (r->hazard_over_ns == 0)
        return false;
    if (plan->is_per_user) {
        int64_t round_ms =
            (int64_t)plan->slot_ms * plan->slot_users * plan->voucher_count;

        return since_begin_ms(r) > round_ms + AFTER_HAZARD_MS &&
               (!plan->hazard->needs_faults || calm_ms > AFTER_HAZARD_MS);
    }
    if (plan->hazard->needs_faults && calm_ms < AFTER_HAZARD_MS) {
        r->sold_out_before = sold_out;
        return false;
    }
    /* Lost updates can make a stock last very long: many times the stock is enough. */
    return sold_out > r->sold_out_before ||
           control_sum(&r->wrk.control, CONTROL_ACCEPTED) > USERS_STOCKS * plan->stock;
}

static void watch_sales(struct running *r)
{
    if (r->sold_out_ns == 0 && control_sum(&r->wrk.control, CONTROL_SOLD_OUT) > 0) {
        r->sold_out_ns = monotonic_ns();
        r->accepted_then = control_sum(&r->wrk.control, CONTROL_ACCEPTED);
    }
}

/* Is the time over?  A hazard that is under way is given three times as long. */
static bool is_late(const struct running *r, enum hazard_state state)
{
    int64_t limit_ms = r->plan->duration_ms * (state == HAZARD_GOING ? 3 : 1);

    return since_begin_ms(r) > limit_ms;
}

/* A thread of wrk without users sends nothing, so the rest of the load would show a lower speed. */
static bool has_no_users(struct running *r)
{
    r->result->users_ran_out = control_sum(&r->wrk.control, CONTROL_RAN_OUT) > 0;
    return r->result->users_ran_out;
}

static enum exit_code drive(struct running *r)
{
    enum hazard_state state = HAZARD_GOING;
    char *note = r->scene.note;

    r->begin_ns = r->scene.stage_ns = monotonic_ns();
    live_set_phase(r->plan->live, LIVE_SELLING);
    r->began_us = running_wall_us();
    while (!is_enough(r)) {
        watch_sales(r);
        running_tell(r);
        if (state == HAZARD_GOING)
            state = r->plan->hazard->step(&r->scene);
        if (r->scene.stage > 0 && r->fault_begin_ns == 0)
            r->fault_begin_ns = monotonic_ns();
        if (state != HAZARD_GOING && r->hazard_over_ns == 0)
            r->hazard_over_ns = monotonic_ns();
        if (state == HAZARD_MISSED || state == HAZARD_FAILED)
            break;
        if (!wrk_runs(&r->wrk))
            return wrk_explain_end(&r->wrk, r->plan->dir, running_why(r));
        if (has_no_users(r) || is_late(r, state) || !interrupt_sleep_ms(POLL_MS))
            break;
    }
    watch_sales(r);
    if (state == HAZARD_GOING && *note == '\0')
        snprintf(note, sizeof r->scene.note, "it was not over after %" PRId64 " ms%s",
                 since_begin_ms(r), r->result->users_ran_out ? ", and the users ran out" : "");
    r->result->hazard = state == HAZARD_OVER             ? HAZARD_OVER
                        : r->scene.holds_within_lease ? HAZARD_LATE
                        : state == HAZARD_GOING       ? HAZARD_MISSED
                                                      : state;
    return interrupted() ? EXIT_INTERRUPTED : EXIT_VALID;
}

/* The speed is that of the sale, without the refusals after "sold out". */
static void measure(struct running *r)
{
    struct run_result *result = r->result;
    int64_t accepted = control_sum(&r->wrk.control, CONTROL_ACCEPTED);
    int64_t end_ns = monotonic_ns();

    int64_t start_ns;

    start_signal_read(&r->wrk.control, &result->start);
    start_ns = result->start.fired > 0 ? result->start.first_ns : r->wrk.started_ns;
    result->elapsed_ms = (end_ns - start_ns) / 1000000;
    if (r->sold_out_ns) {
        accepted = r->accepted_then;
        end_ns = r->sold_out_ns;
    }
    result->orders_per_s =
        (double)accepted * 1e9 / (double)(end_ns - start_ns + 1);
}

/* Run the hazard under the load of wrk.  The services are up. */
static enum exit_code run_load(struct running *r)
{
    char path[FILES_PATH_MAX];
    enum exit_code rc;

    if (!arm_hazard(r)) {
        why_say(running_why(r), "the hazard could not be prepared: %s", r->scene.note);
        return EXIT_UNAVAILABLE;
    }
    rc = start_load(r);
    if (rc != EXIT_VALID)
        return rc;
    r->scene.control = &r->wrk.control;
    rc = wait_fired(r);
    if (rc == EXIT_VALID)
        rc = drive(r);
    else
        r->result->hazard = HAZARD_MISSED;
    if (r->result->hazard != HAZARD_OVER)
        hazard_undo(r->plan->hazard, &r->scene);
    measure(r);
    if (rc == EXIT_UNAVAILABLE && !r->plan->quiet) {
        files_join(path, r->plan->dir, "wrk.txt");
        files_print_tail(path);
    }
    running_tell(r);
    live_set_phase(r->plan->live, LIVE_DRAINING);
    wrk_stop(&r->wrk, interrupted() ? DRAIN_INTERRUPTED_MS : DRAIN_MS);
    snprintf(r->result->note, sizeof r->result->note, "%s", r->scene.note);
    return rc;
}

/* Run the load of the plan in place of wrk. */
static enum exit_code run_other_load(struct running *r)
{
    char urls[RUN_URLS_MAX];
    const struct run_stage stage = {.plan = r->plan,
                                    .dir = r->plan->dir,
                                    .services = r->services,
                                    .service_count = r->service_count,
                                    .entries = r->plan->has_front ? &r->front : r->services,
                                    .entry_count = r->plan->has_front ? 1 : r->service_count,
                                    .urls = urls,
                                    .vouchers = r->vouchers,
                                    .voucher_count = r->plan->voucher_count,
                                    .voucher_list = r->voucher_list,
                                    .why = running_why(r)};

    run_list_urls(r, urls);
    r->result->hazard = HAZARD_OVER;
    r->begin_ns = monotonic_ns();
    r->began_us = running_wall_us();
    return r->plan->load(r->plan->load_arg, &stage);
}

/* `so_far` unless the run cannot be judged. */
static enum exit_code judge(struct running *r, bool is_settled, enum exit_code so_far)
{
    enum exit_code rc = EXIT_CANNOT_WRITE;

    if (running_write(r, is_settled))
        rc = running_judge(r, is_settled);
    return rc == EXIT_VALID ? so_far : rc;
}

/* Load a service that was not started here. */
static enum exit_code run_remote(struct running *r)
{
    struct audit_verdict *verdict = &r->result->verdict;
    enum exit_code rc;

    r->vouchers[0] = r->plan->remote->voucher;
    r->voucher_count_of_first = 1;
    snprintf(r->voucher_list, sizeof r->voucher_list, "%" PRId64, r->vouchers[0]);
    rc = r->plan->load ? run_other_load(r) : run_load(r);
    running_read_load(r);
    verdict->valid = VERDICT_UNKNOWN;
    for (int i = 0; i < AUDIT_CHECK_COUNT; i++)
        verdict->findings[i].valid = VERDICT_UNKNOWN;
    return rc;
}

enum exit_code run_once(const struct run_plan *plan, struct run_result *result)
{
    struct running *r = calloc(1, sizeof *r);
    bool is_drained, is_settled;
    enum exit_code rc;

    if (!r)
        abort();
    *result = (struct run_result){0};
    r->plan = plan;
    r->result = result;
    if (plan->remote) {
        rc = run_remote(r);
        free(r);
        return rc;
    }
    rc = run_issue_vouchers(r) ? EXIT_CANNOT_WRITE : EXIT_UNAVAILABLE;
    if (rc == EXIT_UNAVAILABLE || !running_write(r, false)) {
        free(r);
        return rc;
    }
    running_show(r);
    rc = start_services(r);
    if (rc == EXIT_VALID) {
        rc = plan->load ? run_other_load(r) : run_load(r);
        front_stop(&r->front);
        is_drained = running_wait_drained(r);
        if (!stopped_write(plan->dir, r->services, r->service_count) && rc == EXIT_VALID) {
            why_say(running_why(r), "cannot write into %s: %s", plan->dir, strerror(errno));
            rc = EXIT_CANNOT_WRITE;
        }
        r->services_ended_well = service_stop(r->services, r->service_count);
        /* No hazard of a run kills a process, so a sound sale in which a process died, or the
         * front, says nothing of the lock. */
        ends_look(result, r->services, r->service_count, plan->has_front ? &r->front : NULL,
                  running_why(r));
        is_settled = running_wait_settled(r) && is_drained;
        live_set_phase(plan->live, LIVE_JUDGING);
        running_read_load(r);
        if (rc == EXIT_VALID || rc == EXIT_INTERRUPTED)
            rc = judge(r, is_settled, rc);
    }
    live_end(plan->live);
    if (!fault_history_close(r->history) && rc == EXIT_VALID)
        rc = EXIT_BUG;
    free(r);
    return rc;
}

void run_print_verdict(const struct run_plan *plan, const struct run_result *result)
{
    char word[SHELL_WORD_MAX];

    if (!plan->remote) {
        report_verdict(stdout, &result->verdict, "the database, after the run");
        return;
    }
    printf("%sNOT AUDITED%s: only the answers of %s were seen: clients were told of %" PRId64
           " orders, and %" PRId64 " of %" PRId64 " requests had no answer\n"
           "  not judged, because nobody read the database: the stock, orders beyond it, second "
           "orders of a\n  user, lost orders; not known of the service: who held which lock, "
           "crashes, processor time\n"
           "  if its database is that of a lab: seckill audit %s\n",
           report_style(stdout, STYLE_WARN), report_style(stdout, STYLE_PLAIN), plan->remote->url,
           result->told, result->unanswered, result->sent, shell_word(word, plan->dir));
}

enum exit_code run_verdict_exit(const struct run_plan *plan, const struct run_result *result)
{
    if (!plan->remote || result->told > 0)
        return plan->remote ? EXIT_VALID : verdict_exit(result->verdict.valid);
    command_explain_exit(EXIT_UNKNOWN, "no order was accepted, so nothing was shown");
    return EXIT_UNKNOWN;
}
