/* SPDX-License-Identifier: MIT */
/* orders.c -- the plan of a simulated sale, and the life of a process of the service. */
#include "tests/simulation/orders.h"

#include <stdio.h>
#include <string.h>

#include "tests/simulation/postgres_network.h"

enum {
    WORLD_ENDS_S = 900,
    LAST_TRANSACTION_MS = 40000, /* longer than a transaction may be idle, so that all have ended */
    STOCK_MOST = 12,
    PROCESS_THREADS_MAX = 4,
};

struct orders_world orders;

/* ---- subjects ---- */

#define SUBJECT(path, text, flaw) {path, "redis", text, flaw, "app/paths", 0}

static const dlock_variant_info subjects[] = {
    SUBJECT("each", "a transaction for each order", ""),
    SUBJECT("combined", "a transaction for the orders that wait", ""),
    SUBJECT("stream", "a script lets orders in, a writer makes their rows", ""),
    SUBJECT("each-bare", "the same as each", "no lock and no guard"),
    SUBJECT("combined-bare", "the same as combined", "no lock and no guard"),
    SUBJECT("stream-bare", "the same as stream", "no lock and no guard"),
};

enum { SUBJECT_COUNT = sizeof(subjects) / sizeof(subjects[0]) };

size_t orders_subject_count(void)
{
    return SUBJECT_COUNT;
}

const dlock_variant_info *orders_subject_at(size_t index)
{
    return &subjects[index];
}

bool orders_is_subject(const dlock_variant_info *subject)
{
    return subject >= subjects && subject < subjects + SUBJECT_COUNT;
}

/* ---- the end ---- */

static void judge(void *arg)
{
    static const enum verdict verdicts[] = {[ORDERS_VALID] = FINE,
                                            [ORDERS_OVERSOLD] = OVERSOLD,
                                            [ORDERS_LOST_UPDATE] = LOST_UPDATE,
                                            [ORDERS_DUPLICATE] = DUPLICATE,
                                            [ORDERS_PROMISE] = PROMISE,
                                            [ORDERS_UNDERSOLD] = UNDERSOLD,
                                            [ORDERS_WRONG] = AUDIT};
    char why[ORDERS_WHY_SIZE] = "";
    enum orders_finding finding = orders_audit(&postgres_server.model, orders.asked,
                                               orders.asked_count, why);

    (void)arg;
    trace("audit", (int64_t)finding, (int64_t)postgres_server.model.order_count);
    if (finding != ORDERS_VALID)
        world_condemn(verdicts[finding], "%s", why);
    world.is_over = true;
}

/* Transactions of clients that have ended may still be open. */
static void end_process(struct orders_process *process)
{
    static struct event end = {.run = judge};

    process->is_over = true;
    for (int i = 0; i < orders.process_count; i++)
        if (!orders.processes[i].is_over)
            return;
    event_plan(&end, world.now_ns + LAST_TRANSACTION_MS * MS);
}

/* ---- processes ---- */

static void *run_process(void *arg)
{
    struct orders_process *process = arg;

    dlock_process_enter(&process->own);
    orders_open_service(process);
    process->is_open = true;
    for (int i = 0; i < process->thread_count; i++)
        if (task_begin(&process->site, orders_run_client, process) == NULL)
            process->ended_count++;
    while (process->ended_count < process->thread_count)
        (void)task_sleep(INT64_MAX);
    process->is_open = false;
    orders_close_service(process);
    end_process(process);
    return NULL;
}

bool orders_add_process(void)
{
    struct orders_process *process;

    if (orders.process_count == PROCESSES_MAX)
        return false;
    process = &orders.processes[orders.process_count];
    process->site = (struct site){.number = orders.process_count,
                                  .offset_ns = chance_between(1, 100000) * SECOND,
                                  .drift_ppb = chance_between(-200000, 200000)};
    (void)snprintf(process->name, sizeof(process->name), "p%d", orders.process_count);
    process->thread_count =
        (int)world_size(SIZE_THREADS, chance_between(1, PROCESS_THREADS_MAX));
    if (!dlock_process_init(&process->own))
        return false;
    orders.process_count++;
    process->main = task_begin(&process->site, run_process, process);
    return process->main != NULL;
}

void orders_kill(struct orders_process *process)
{
    process->site.is_dead = true;
    process->is_open = false;
    for (size_t i = 0; i < orders.asked_count; i++)
        if (orders.asked[i].process == process->site.number)
            orders.asked[i].is_under_way = false;
    network_cut_process(&process->site);
    postgres_network_end_process(&process->site);
    tell("process %d is killed", process->site.number);
    end_process(process);
}

/* ---- the plan ---- */

static void end_world(void *arg)
{
    (void)arg;
    world_condemn(ENDLESS, "the sale has not come to its end after %d s", WORLD_ENDS_S);
}

void orders_begin(const struct play *play)
{
    static struct event end = {.run = end_world};
    static const char bare[] = "-bare";
    static char path[16];
    const char *name = play->variant->name;
    size_t len = strlen(name);
    bool is_bare = len > strlen(bare) && strcmp(name + len - strlen(bare), bare) == 0;
    int64_t now_us;

    (void)snprintf(path, sizeof(path), "%.*s",
                   (int)(len - (is_bare ? strlen(bare) : 0)), name);
    orders.class = play->class;
    world.is_calm = play->class == CLASS_CALM;
    postgres_network_begin();
    now_us = site_wall_us(&postgres_server.site);
    orders.voucher_count = (int)world_size(SIZE_NAMES, chance_one_in(3) ? 2 : 1);
    orders.user_count = (int)chance_between(2, 24);
    orders.round_count = (int)world_size(SIZE_ROUNDS, chance_between(3, 10));
    for (int i = 0; i < orders.voucher_count; i++)
        postgres_model_issue(&postgres_server.model, i + 1, chance_between(1, STOCK_MOST),
                             now_us - 3600 * INT64_C(1000000),
                             now_us + 3600 * INT64_C(1000000));
    orders_draw_settings(path, is_bare);
    for (int64_t left = world_size(SIZE_PROCESSES, chance_between(2, 4)); left > 0; left--)
        (void)orders_add_process();
    orders_faults_begin();
    event_plan(&end, WORLD_ENDS_S * SECOND);
}
