/* SPDX-License-Identifier: MIT */
/* orders_service.c -- the settings of a simulated sale, and the service of a process, which is
 * made of the same parts as that of app/service_open.c. */
#include <stdalign.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "app/lane.h"
#include "app/order_path.h"
#include "app/store_options.h"
#include "app/stream.h"
#include "app/stream_writer.h"
#include "db/guard.h"
#include "db/order_paths.h"
#include "tests/simulation/orders.h"

enum { OPEN_AGAIN_MS = 50, DRAIN_MS = 60000, LOOK_MS = 20 };

/* ---- settings ---- */

static const char *draw_name(const char *const *from, size_t count)
{
    return from[chance_between(0, (int64_t)count - 1)];
}

#define DRAW(...)                                                                            \
    draw_name((const char *const[]){__VA_ARGS__},                                            \
              sizeof((const char *const[]){__VA_ARGS__}) / sizeof(const char *))

/* Draw guards with which the sale is correct even if the lock fails. */
static void draw_guards_that_hold(struct config *c)
{
    c->lock = DRAW("lua", "reentrant", "fair", "fenced", "spin", "none");
    c->stock_guard = DRAW("conditional", "row-lock", "version");
    c->duplicates = DUPLICATE_GUARD_UNIQUE;
    c->lock_scope_is_voucher = chance_one_in(2);
    if (chance_one_in(4) && orders.class != CLASS_STORE) {
        c->lock = "fenced";
        c->stock_guard = "fence";
        c->lock_scope_is_voucher = true;
    }
}

/* Draw guards that rely on the lock; only in calm the lock certainly excludes. */
static void draw_guards_that_need_the_lock(struct config *c)
{
    c->lock = DRAW("lua", "reentrant", "fair", "fenced", "spin");
    c->lock_scope_is_voucher = chance_one_in(2);
    c->duplicates = DUPLICATE_GUARD_COUNT;
    c->stock_guard = c->lock_scope_is_voucher ? DRAW("read-write", "decrement", "conditional")
                                              : DRAW("conditional", "row-lock", "version");
}

static void draw_no_guard(struct config *c)
{
    c->lock = DRAW("none", "local");
    c->lock_scope_is_voucher = chance_one_in(2);
    c->duplicates = chance_one_in(2) ? DUPLICATE_GUARD_NONE : DUPLICATE_GUARD_COUNT;
    c->stock_guard = DRAW("read-write", "decrement");
}

void orders_draw_settings(const char *path, bool is_bare)
{
    struct config *c = &orders.settings;

    *c = (struct config){
        .order_path = path,
        .redis_url = "redis://127.0.0.1:7000",
        .databases = {.count = 1, .text = "postgresql://simulated"},
        .database_pooler = "none",
        .retry = chance_one_in(3) ? "fixed:20ms" : "push",
        .redis_timeout_ms = 500,
        .redlock_node_timeout_ms = 50,
        .zookeeper_timeout_ms = 500,
        .etcd_timeout_ms = 500,
        .statement_timeout_ms = 5000,
        .idle_transaction_ms = 20000,
        .database_wait_ms = 2000,
        .database_connections = chance_between(1, 4),
        .lock_wait_ms = chance_one_in(3) ? 0 : chance_between(200, 3000),
        .lock_lease_ms = chance_between(3000, 10000),
        .watchdog = true,
        .orders_waiting = 64,
        .settle_ms = 2000,
        .stream_name = ORDER_PATH_STREAM_NAME,
        .stream_queued = chance_one_in(4) ? chance_between(1, 4) : 1000,
        .stream_claim_ms = chance_between(200, 5000),
        .unlock_waits = chance_one_in(2),
    };
    if (is_bare)
        draw_no_guard(c);
    else if (orders.class == CLASS_CALM && chance_one_in(2))
        draw_guards_that_need_the_lock(c);
    else
        draw_guards_that_hold(c);
    tell("the path %s, the lock %s of a %s, the guards %s and %s", path, c->lock,
         c->lock_scope_is_voucher ? "voucher" : "user", c->stock_guard,
         duplicate_guard_name_at(c->duplicates));
}

/* ---- a service ---- */

/* Did the open succeed? False: the store did not answer, and the caller tries again. */
static bool has_opened(dlock_status st)
{
    if (dlock_is_failure(st) && st != DLOCK_IO && st != DLOCK_UNKNOWN)
        world_condemn(CRASH, "an open answers %s: %s", dlock_status_id(st), dlock_error());
    return st == DLOCK_OK;
}

static bool open_stores(struct service *s)
{
    dlock_options locks = stores_lock_options(s->config);

    locks.database_url = NULL; /* so that fences have no epochs */
    if (s->locks == NULL && !has_opened(dlock_open(&s->locks, &locks)))
        return false;
    if (strcmp(s->config->order_path, "stream") == 0 && s->stream == NULL &&
        !has_opened(stream_open(&s->stream, s->config)))
        return false;
    if (s->databases == NULL)
        s->databases = partitions_open(s->config);
    return s->databases != NULL;
}

void orders_open_service(struct orders_process *process)
{
    struct service *s = &process->service;
    struct config *c = &process->config;

    *c = orders.settings;
    (void)snprintf(c->process_name, sizeof(c->process_name), "%s", process->name);
    s->config = c;
    s->path = order_path_find(c->order_path);
    s->terms = (struct sale_terms){.stock_guard = guard_find(c->stock_guard),
                                   .duplicate_guard = c->duplicates,
                                   .lock_variant = c->lock,
                                   .process = c->process_name};
    s->metrics = metrics_new();
    s->lanes = lanes_new(c->orders_waiting);
    s->vouchers = aligned_alloc(alignof(struct voucher_cache), sizeof(*s->vouchers));
    if (s->metrics == NULL || s->lanes == NULL || s->vouchers == NULL || s->path == NULL)
        abort();
    memset(s->vouchers, 0, sizeof(*s->vouchers));
    (void)voucher_cache_init(s->vouchers);
    while (!open_stores(s))
        task_pause(OPEN_AGAIN_MS * MS);
    if (s->stream != NULL)
        s->stream_writer = stream_writer_start(s);
    tell("process %d is open", process->site.number);
}

/* Wait until the writers, of any process, have written all queued orders. */
static void wait_for_writer(const struct service *s)
{
    int64_t until_ns = world.now_ns + DRAIN_MS * MS;

    while (stream_length(s->stream) > 0 && world.now_ns < until_ns)
        task_pause(LOOK_MS * MS);
    if (world.now_ns >= until_ns)
        world_condemn(SHUT, "queued orders were not written within %d s after the faults",
                      DRAIN_MS / 1000);
}

void orders_close_service(struct orders_process *process)
{
    struct service *s = &process->service;

    if (s->stream != NULL)
        wait_for_writer(s);
    stream_writer_stop(s->stream_writer, 0);
    stream_close(s->stream);
    dlock_close(s->locks);
    partitions_close(s->databases);
}
