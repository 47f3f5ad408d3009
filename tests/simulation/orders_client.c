/* SPDX-License-Identifier: MIT */
/* orders_client.c -- a thread of a simulated service, and the clients whose orders it takes. */
#include <stdio.h>
#include <string.h>

#include "app/order.h"
#include "tests/simulation/orders.h"

enum { LAST_WAIT_MS = 60000, LAST_AGAIN_MS = 100 };

/* ---- requests ---- */

static struct orders_asked *new_request(void)
{
    struct orders_asked *asked = &orders.asked[orders.asked_count];

    if (orders.asked_count == ORDERS_ASKED_MAX)
        return NULL;
    (void)snprintf(asked->id, sizeof(asked->id), "r%zu", orders.asked_count++);
    asked->user = chance_between(1, orders.user_count);
    asked->voucher = chance_between(1, orders.voucher_count);
    return asked;
}

/* A request without an answer may be sent again, to any process. */
static struct orders_asked *old_request(void)
{
    size_t first = orders.asked_count > 0
                       ? (size_t)chance_between(0, (int64_t)orders.asked_count - 1) : 0;

    for (size_t i = 0; i < orders.asked_count; i++) {
        struct orders_asked *asked = &orders.asked[(first + i) % orders.asked_count];

        if (!asked->is_under_way && asked->answer == ORDERS_UNSURE)
            return asked;
    }
    return NULL;
}

/* ---- answers ---- */

static enum orders_answer read_outcome(enum outcome outcome)
{
    switch (outcome) {
    case OUTCOME_ACCEPTED:
        return ORDERS_ACCEPTED;
    case OUTCOME_QUEUED:
        return ORDERS_QUEUED;
    case OUTCOME_SOLD_OUT:
        return ORDERS_SOLD_OUT;
    case OUTCOME_UNKNOWN:
        return ORDERS_UNSURE;
    default:
        return ORDERS_REFUSED;
    }
}

/* Is it an outcome that a correct service gives only after a fault? */
static bool is_trouble(enum outcome outcome)
{
    return outcome == OUTCOME_UNAVAILABLE || outcome == OUTCOME_UNKNOWN ||
           outcome == OUTCOME_DATABASE_BUSY;
}

static void check_outcome(const struct orders_asked *asked, enum outcome outcome)
{
    world.account->calls++;
    tell("request %s of user %d for voucher %d is answered %s", asked->id, (int)asked->user,
         (int)asked->voucher, outcome_info(outcome)->name);
    trace("outcome", (int64_t)outcome, asked->order);
    if (outcome == OUTCOME_INTERNAL || (world.is_calm && is_trouble(outcome)))
        world_condemn(CRASH, "request %s is answered %s", asked->id, outcome_info(outcome)->name);
}

static enum outcome place(struct worker *w, struct orders_asked *asked)
{
    struct order_request request = {.user_id = asked->user,
                                    .voucher_id = asked->voucher,
                                    .request_id = asked->id,
                                    .is_named_by_client = true};
    struct order_placed placed = {0};
    enum outcome outcome;

    asked->was_unsure = asked->was_unsure || asked->answer == ORDERS_UNSURE;
    asked->is_under_way = true;
    asked->process = task_here->site->number;
    asked->answer = ORDERS_UNSURE; /* for as long as there is no answer, which may never come */
    tell("process %d task %d: request %s of user %d for voucher %d", task_here->site->number,
         task_here->number, asked->id, (int)asked->user, (int)asked->voucher);
    outcome = order_place(w, &request, &placed);
    asked->is_under_way = false;
    asked->answer = read_outcome(outcome);
    asked->order = placed.order_id;
    check_outcome(asked, outcome);
    return outcome;
}

/* ---- a thread ---- */

/* After the faults, an order has to get an answer. */
static void place_last(struct worker *w)
{
    struct orders_asked *asked;
    int64_t until_ns;
    enum outcome outcome;

    if (world.now_ns < orders.faults_end_ns)
        task_pause(orders.faults_end_ns - world.now_ns + chance_between(1, 1000) * MS);
    until_ns = world.now_ns + LAST_WAIT_MS * MS;
    do {
        asked = new_request();
        if (asked == NULL)
            return;
        outcome = place(w, asked);
        if (!is_trouble(outcome) && outcome != OUTCOME_LOCK_BUSY &&
            outcome != OUTCOME_QUEUE_FULL && outcome != OUTCOME_STALE)
            return;
        task_pause(LAST_AGAIN_MS * MS);
    } while (world.now_ns < until_ns);
    world_condemn(SHUT, "no order got an answer within %d s after the faults: %s",
                  LAST_WAIT_MS / 1000, outcome_info(outcome)->name);
}

void *orders_run_client(void *arg)
{
    struct orders_process *process = arg;
    struct worker *w;

    dlock_process_enter(&process->own);
    w = worker_new(&process->service);
    for (int i = 0; w != NULL && i < orders.round_count; i++) {
        struct orders_asked *asked;

        task_pause(chance_skewed(1000, chance_one_in(8) ? 300 * MS : 3 * MS));
        asked = chance_one_in(4) ? old_request() : NULL;
        if (asked == NULL)
            asked = new_request();
        if (asked != NULL)
            (void)place(w, asked);
    }
    if (w != NULL)
        place_last(w);
    worker_free(w);
    process->ended_count++;
    task_wake(process->main);
    return NULL;
}
