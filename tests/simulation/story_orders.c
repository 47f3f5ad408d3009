/* SPDX-License-Identifier: MIT */
/* story_orders.c -- stories of one process of the service that sells by --order-path=stream.
 * The story holds the voucher's lock, so that the writer leaves orders in the stream. */
#include "tests/simulation/story_orders.h"

#include <stdio.h>
#include <string.h>

#include "app/lock_name.h"
#include "app/order.h"
#include "app/sold_out.h"
#include "app/stream.h"
#include "app/stream_writer.h"
#include "base/os/clock.h"
#include "tests/simulation/orders.h"
#include "tests/simulation/postgres_network.h"

enum { VOUCHER = 1, STOCK = 5, LOOK_MS = 10 };

static struct orders_process *const process = &orders.processes[0];
static struct worker *client;
static dlock_lease lease; /* it keeps the writer from writing */

static void expect(const char *what, bool is_so)
{
    if (!is_so)
        world_condemn(CRASH, "not so: %s", what);
}

static bool open_sale(int64_t queued_most)
{
    char name[LOCK_NAME_SIZE];
    int64_t now_us;

    postgres_network_begin();
    now_us = site_wall_us(&postgres_server.site);
    postgres_model_issue(&postgres_server.model, VOUCHER, STOCK,
                         now_us - 3600 * INT64_C(1000000), now_us + 3600 * INT64_C(1000000));
    orders_draw_settings("stream", false);
    orders.settings.lock = "lua";
    orders.settings.lock_scope_is_voucher = true;
    orders.settings.stream_queued = queued_most;
    process->site = *task_here->site;
    (void)snprintf(process->name, sizeof(process->name), "p0");
    if (!dlock_process_init(&process->own))
        return false;
    dlock_process_enter(&process->own);
    orders_open_service(process);
    client = worker_new(&process->service);
    lock_name_of_voucher(VOUCHER, name);
    expect("the voucher's lock is taken",
           dlock_acquire(process->service.locks, name, 0, &lease) == DLOCK_OK);
    return client != NULL;
}

static enum outcome place(const char *request_id, int64_t user, int64_t *order)
{
    const struct order_request request = {.user_id = user,
                                          .voucher_id = VOUCHER,
                                          .request_id = request_id,
                                          .is_named_by_client = true};
    struct order_placed placed = {0};
    enum outcome outcome = order_place(client, &request, &placed);

    tell("request %s is answered %s", request_id, outcome_info(outcome)->name);
    *order = placed.order_id;
    return outcome;
}

static bool has_row(const char *request_id)
{
    const struct postgres_model *model = &postgres_server.model;

    for (size_t i = 0; i < model->order_count; i++)
        if (model->orders[i].is_committed && strcmp(model->orders[i].request, request_id) == 0)
            return true;
    return false;
}

void story_stream_late_question(const char *subject)
{
    int64_t first, second;

    (void)subject;
    expect("the sale is open", open_sale(1));
    expect("the first order is queued", place("r1", 1, &first) == OUTCOME_QUEUED);
    network_delay_next_with("r2", world.now_ns + 3000 * MS);
    expect("nobody can say what becomes of the second order, which waits for its question",
           place("r2", 2, &second) == OUTCOME_UNKNOWN);
    expect("the first question is still on its way", network_has_delayed());
    expect("the voucher's lock is given back",
           dlock_release(process->service.locks, &lease) == DLOCK_OK);
    for (int i = 0; i < 1000 && !has_row("r2"); i++)
        task_pause(LOOK_MS * MS);
    expect("the second order has its row", has_row("r2"));
    world.is_over = true;
}

void story_stream_hint(const char *subject)
{
    int64_t first, again;

    (void)subject;
    expect("the sale is open", open_sale(1000));
    expect("the order is queued", place("r1", 1, &first) == OUTCOME_QUEUED);
    sold_out_note(&process->service.sold_out, VOUCHER, dlock_clock_ns());
    expect("the request that comes again is queued still",
           place("r1", 1, &again) == OUTCOME_QUEUED);
    expect("its order has the same number", first == again);
    sold_out_note(&process->service.sold_out, VOUCHER, dlock_clock_ns());
    expect("a request that never came before is refused",
           place("r2", 2, &again) == OUTCOME_SOLD_OUT);
    world.is_over = true;
}
