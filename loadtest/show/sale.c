/* SPDX-License-Identifier: MIT */
/* sale.c -- starts and ends the processes and the load of the sale that is shown. */
#include "loadtest/show/sale.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/text/duration.h"
#include "db/issue.h"
#include "loadtest/kit/interrupt.h"
#include "loadtest/kit/why.h"
#include "lock/store.h"

enum { FIRE_MS = 30000, POLL_MS = 4, DRAIN_MS = 1000, SPARE_WORKERS = 2, LOOK_MS = 1000,
       LOAD_MS = 3600000, SAME_USERS = 20000 };

static bool wires_open_one(struct show_wires *wires, const struct lab *lab, int i, char *why)
{
    char target[32], reason[PROXY_WHY_MAX], url[LAB_URL_MAX];
    const struct proxy_options options = {.target = target, .protocol = PROXY_RAW};
    struct lab_route route;
    int port;

    snprintf(target, sizeof target, "127.0.0.1:%d", lab_port(lab, LAB_REDIS, 0));
    if (!proxy_open(&wires->proxies[i], &options, reason)) {
        wires->proxies[i] = NULL;
        why_say(why, "cannot lay a wire to Redis: %s", reason);
        return false;
    }
    port = proxy_port(wires->proxies[i]);
    route = (struct lab_route){.ports = &port};
    lab_store_url(lab, DLOCK_STORE_REDIS, &route, url);
    snprintf(wires->urls[i], sizeof wires->urls[i], "%s=%s",
             dlock_store_row(DLOCK_STORE_REDIS)->environment, url);
    return true;
}

/* Open the wires of the first `count` processes that have none.  False: `why` has the reason. */
static bool wires_open(struct show_wires *wires, const struct lab *lab, int count, char *why)
{
    for (int i = 0; i < count; i++)
        if (!wires->proxies[i] && !wires_open_one(wires, lab, i, why))
            return false;
    return true;
}

static void wires_close(struct show_wires *wires)
{
    for (int i = 0; i < SERVICE_MAX; i++) {
        proxy_close(wires->proxies[i]);
        wires->proxies[i] = NULL;
        wires->is_cut[i] = false;
    }
}

bool show_wires_cut(struct show_wires *wires, int process, char *why)
{
    static const char *const holds[] = {"hold to-server", "hold to-client"};
    char reason[PROXY_WHY_MAX];

    for (int d = 0; d < 2; d++) {
        wires->holds[process][d] = proxy_arm(wires->proxies[process], holds[d], reason);
        if (wires->holds[process][d] >= 0)
            continue;
        if (d > 0)
            proxy_forget(wires->proxies[process], wires->holds[process][0]);
        why_say(why, "%s", reason);
        return false;
    }
    wires->is_cut[process] = true;
    return true;
}

void show_wires_mend(struct show_wires *wires, int process)
{
    for (int d = 1; wires->is_cut[process] && d >= 0; d--)
        proxy_forget(wires->proxies[process], wires->holds[process][d]);
    wires->is_cut[process] = false;
}

static bool all_run(const struct show_sale *sale)
{
    for (int i = 0; i < sale->service_count; i++)
        if (!child_runs(&sale->services[i].child))
            return false;
    return sale->service_count > 0;
}

/* A sale whose stock or load differs needs no other processes. */
static bool fit_processes(const struct show_switches *a, const struct show_switches *b)
{
    struct show_switches same = *a;

    same.stock = b->stock;
    same.connections = b->connections;
    same.users = b->users;
    same.rate = b->rate;
    return show_switches_equal(&same, b) && a->connections >= b->connections;
}

static int workers_of(const struct show_switches *s)
{
    return (int)((s->connections + s->processes - 1) / s->processes) + SPARE_WORKERS;
}

static void learn_system(struct show_sale *sale, int i)
{
    struct service_lock lock;

    (void)service_look_lock_within(&sale->services[i], "lock:voucher:0", LOOK_MS, &lock);
    snprintf(sale->systems[i], sizeof sale->systems[i], "%s", lock.system);
}

/* Lay a wire for each process, if the lock is in one Redis server. */
static bool lay_wires(struct show_sale *sale, const struct show_switches *switches)
{
    sale->has_wires = dlock_store_of(dlock_variant_find(switches->lock)) == DLOCK_STORE_REDIS;
    wires_close(&sale->wires);
    return !sale->has_wires ||
           wires_open(&sale->wires, sale->lab, (int)switches->processes, sale->why);
}

static enum exit_code start_processes(struct show_sale *sale,
                                      const struct show_switches *switches)
{
    const char *variables[SERVICE_MAX];
    struct show_flags flags;
    struct service_plan plan = {.lab = sale->lab,
                                .dir = sale->dir,
                                .flags = flags.list,
                                .count = (int)switches->processes,
                                .workers = workers_of(switches),
                                .allow_faults = true,
                                .why = sale->why};
    enum exit_code rc;

    show_flags_make(&flags, switches);
    service_stop(sale->services, sale->service_count);
    sale->service_count = 0;
    if (!lay_wires(sale, switches))
        return EXIT_UNAVAILABLE;
    for (int i = 0; i < plan.count; i++)
        variables[i] = sale->wires.urls[i];
    plan.variables = sale->has_wires ? variables : NULL;
    rc = service_start(sale->services, &plan);
    if (rc != EXIT_VALID)
        return rc;
    sale->service_count = plan.count;
    for (int i = 0; i < plan.count; i++)
        learn_system(sale, i);
    return EXIT_VALID;
}

/* Wait for answers for so long at most. */
static void end_load(struct show_sale *sale, int64_t drain_ms)
{
    if (!sale->is_loaded)
        return;
    if (sale->rated)
        show_rated_end(sale->rated);
    else
        wrk_stop(&sale->wrk, drain_ms);
    sale->rated = NULL;
    sale->control = (struct control){NULL};
    sale->is_loaded = false;
    sale->end_ns = monotonic_ns();
}

enum exit_code show_sale_offer(struct show_sale *sale, const struct show_switches *switches)
{
    const struct lab_voucher voucher = {.title = "a sale that is shown", .stock = switches->stock};
    int64_t begin_ns = monotonic_ns();
    enum exit_code rc = EXIT_VALID;

    /* The old voucher is judged no more, so nobody waits for the answers of its orders. */
    end_load(sale, 0);
    sale->why[0] = '\0';
    if (!all_run(sale) || !fit_processes(&sale->switches, switches))
        rc = start_processes(sale, switches);
    sale->switches = *switches;
    if (rc != EXIT_VALID)
        return rc;
    if (!lab_issue_voucher(sale->db, &voucher, &sale->voucher)) {
        why_say(sale->why, "cannot make a voucher: %s", lab_db_error(sale->db));
        return EXIT_UNAVAILABLE;
    }
    sale->key[0] = '\0';
    if (strcmp(switches->scope, show_scope_at(SHOW_SCOPE_VOUCHER)) == 0)
        snprintf(sale->key, sizeof sale->key, "lock:voucher:%" PRId64, sale->voucher);
    sale->has_run = false;
    sale->made_ms = (monotonic_ns() - begin_ns) / 1000000;
    sale->begin_ns = sale->end_ns = 0;
    return EXIT_VALID;
}

/* Wait until every client of wrk has sent its first request: the time in which wrk reads its
 * users and connects is no part of the sale. */
static bool wait_fired(struct show_sale *sale)
{
    int64_t by_ns = monotonic_ns() + FIRE_MS * INT64_C(1000000);
    struct start_times start;

    for (start_signal_read(&sale->wrk.control, &start); start.fired < sale->wrk.client_count;
         start_signal_read(&sale->wrk.control, &start)) {
        if (!wrk_runs(&sale->wrk) || monotonic_ns() > by_ns) {
            why_say(sale->why, "wrk sent nothing: see wrk.txt in %s", sale->dir);
            return false;
        }
        if (!interrupt_sleep_ms(POLL_MS))
            return false;
    }
    return true;
}

/* False: sale->why. */
static bool start_rated(struct show_sale *sale)
{
    int ports[SERVICE_MAX];
    const struct show_rated_plan plan = {
        .lab = sale->lab,
        .dir = sale->dir,
        .ports = ports,
        .processes = sale->service_count,
        .connections = (int)sale->switches.connections,
        .rate = sale->switches.rate,
        .duration_ms = LOAD_MS,
        .voucher = sale->voucher,
        .same_users = show_switches_same_user(&sale->switches) ? SAME_USERS : 0,
        .why = sale->why};

    for (int i = 0; i < sale->service_count; i++)
        ports[i] = service_port(&sale->services[i]);
    sale->rated = show_rated_start(&plan);
    if (!sale->rated)
        return false;
    sale->control = show_rated_control(sale->rated);
    sale->is_loaded = sale->has_run = true;
    sale->begin_ns = monotonic_ns();
    return true;
}

/* False: sale->why. */
static bool start_wrk(struct show_sale *sale)
{
    char urls[SERVICE_MAX * SERVICE_URL_MAX] = "", voucher[24], users[48];
    bool is_same = show_switches_same_user(&sale->switches);
    const struct wrk_plan plan = {.lab = sale->lab,
                                  .dir = sale->dir,
                                  .script = is_same ? "one_per_user.lua" : "order.lua",
                                  .urls = urls,
                                  .vouchers = voucher,
                                  .clients = sale->service_count,
                                  .threads = 1,
                                  .connections =
                                      (int)(sale->switches.connections < sale->service_count
                                                ? sale->service_count
                                                : sale->switches.connections),
                                  .duration_ms = LOAD_MS,
                                  .keep_ledger = true,
                                  .extra = {"SECKILL_FACE=v1", users},
                                  .why = sale->why};

    snprintf(users, sizeof users, "SECKILL_SLOT_USERS=%d", SAME_USERS);
    snprintf(voucher, sizeof voucher, "%" PRId64, sale->voucher);
    for (int i = 0; i < sale->service_count; i++) {
        size_t used = strlen(urls);

        snprintf(urls + used, sizeof urls - used, "%s%s", i ? "," : "",
                 sale->services[i].orders_url);
    }
    if (wrk_start(&sale->wrk, &plan) != EXIT_VALID)
        return false;
    sale->control = sale->wrk.control;
    sale->is_loaded = sale->has_run = true;
    sale->begin_ns = monotonic_ns();
    if (wait_fired(sale)) {
        sale->begin_ns = monotonic_ns();
        return true;
    }
    show_sale_unload(sale);
    return false;
}

bool show_sale_load(struct show_sale *sale)
{
    return sale->switches.rate > 0 ? start_rated(sale) : start_wrk(sale);
}

bool show_sale_load_runs(const struct show_sale *sale)
{
    if (sale->rated)
        return show_rated_runs(sale->rated);
    return wrk_runs(&sale->wrk) && control_sum(&sale->control, CONTROL_RAN_OUT) == 0;
}

void show_sale_look_at_lock(const struct show_sale *sale, int process,
                            struct service_lock *lock)
{
    if (!*sale->key ||
        !service_look_lock_within(&sale->services[process], sale->key, LOOK_MS, lock))
        *lock = (struct service_lock){.left_ms = -1};
}

void show_sale_unload(struct show_sale *sale)
{
    end_load(sale, DRAIN_MS);
}

bool show_sale_restart(struct show_sale *sale, int process)
{
    struct service *old = &sale->services[process], fresh;
    struct show_flags flags;
    const char *all[SHOW_FLAGS_MAX + 2];
    const char *const variables[] = {sale->wires.urls[process]};
    char listen[48];
    struct service_plan plan = {.lab = sale->lab,
                                .dir = sale->dir,
                                .flags = all,
                                .count = 1,
                                .first = process,
                                .workers = workers_of(&sale->switches),
                                .variables = sale->has_wires ? variables : NULL,
                                .allow_faults = true,
                                .why = sale->why};
    size_t n = 0;

    show_flags_make(&flags, &sale->switches);
    for (; flags.list[n]; n++)
        all[n] = flags.list[n];
    /* The load knows the old address. */
    snprintf(listen, sizeof listen, "--listen=127.0.0.1:%d", service_port(old));
    all[n++] = listen;
    all[n] = NULL;
    service_stop(old, 1);
    if (service_start(&fresh, &plan) != EXIT_VALID)
        return false;
    *old = fresh;
    learn_system(sale, process);
    return true;
}

void show_sale_close(struct show_sale *sale)
{
    show_sale_unload(sale);
    service_stop(sale->services, sale->service_count);
    sale->service_count = 0;
    wires_close(&sale->wires);
}
