/* SPDX-License-Identifier: MIT */
/* orders_faults.c -- the faults of a simulated sale: those of faults.c for Redis, and the same
 * for PostgreSQL. */
#include "tests/simulation/faults.h"
#include "tests/simulation/orders.h"
#include "tests/simulation/postgres_network.h"

enum { FIRST_MS = 20, PAUSE_MS = 250, END_MS = 5000 };

static struct event next;

static struct orders_process *any_process(void)
{
    return &orders.processes[chance_between(0, orders.process_count - 1)];
}

static int64_t in_ms(int64_t least, int64_t most)
{
    return world.now_ns + chance_skewed(least, most) * MS;
}

/* ---- one fault of each class ---- */

static void strike_net(void)
{
    bool hits_redis = chance_one_in(3);
    int64_t until_ns = in_ms(1, 2000);

    switch (chance_between(0, 3)) {
    case 0:
        if (hits_redis)
            (void)network_delay_one(until_ns);
        else
            postgres_network_delay_one(until_ns);
        break;
    case 1:
        if (hits_redis)
            network_hold(any_process()->site.number, 0, until_ns);
        else
            postgres_network_hold(any_process()->site.number, until_ns);
        break;
    default:
        if (hits_redis)
            (void)network_cut(chance_one_in(2));
        else
            postgres_network_cut(chance_one_in(2));
    }
}

static void strike_crash(void)
{
    struct orders_process *process = any_process();

    if (chance_one_in(3)) {
        postgres_network_bring_down(chance_one_in(2), chance_skewed(1, 500) * MS);
    } else if (process->is_open && !process->is_over &&
               orders.process_count < PROCESSES_MAX) {
        (void)orders_add_process();
        orders_kill(process);
    }
}

static void strike_pause(void)
{
    struct site *site = chance_one_in(4)   ? &postgres_server.site
                        : chance_one_in(4) ? &servers[0].site
                                           : &any_process()->site;

    site->stands_until_ns = in_ms(1, 3000);
    tell("site %d stands still for %d ms", site->number,
         (int)((site->stands_until_ns - world.now_ns) / MS));
}

static void strike_store(void)
{
    switch (chance_between(0, 2)) {
    case 0:
        postgres_server.model.is_full = !postgres_server.model.is_full;
        tell("PostgreSQL has %s room", postgres_server.model.is_full ? "no" : "enough");
        break;
    case 1:
        postgres_server.slow_ns = chance_skewed(1, 60) * MS;
        tell("PostgreSQL is slow: %d ms", (int)(postgres_server.slow_ns / MS));
        break;
    default:
        postgres_server.slow_ns = 0;
        class_rows[CLASS_STORE].strike();
    }
}

/* The beginning and the end of the sale are an hour away, so a step does not reach them. */
static void strike_clock(void)
{
    int64_t by_ms = chance_skewed(1, 5000) * (chance_one_in(2) ? -1 : 1);

    switch (chance_between(0, 2)) {
    case 0:
        postgres_server.site.wall_ms += by_ms;
        break;
    case 1:
        servers[0].site.wall_ms += by_ms;
        break;
    default:
        any_process()->site.wall_ms += by_ms;
    }
    tell("a clock steps by %d ms", (int)by_ms);
}

/* ---- one after another ---- */

static void end_faults(void)
{
    tell("the faults are over");
    servers[0].model.is_full = false;
    postgres_server.model.is_full = false;
    postgres_server.slow_ns = 0;
    task_stall_most_ns = TASK_STALL_NS;
    network_short_one_in = 0;
}

static void strike(void *arg)
{
    static void (*const strikes[CLASS_COUNT])(void) = {
        [CLASS_NET] = strike_net,     [CLASS_CRASH] = strike_crash,
        [CLASS_PAUSE] = strike_pause, [CLASS_STORE] = strike_store,
        [CLASS_CLOCK] = strike_clock};
    int64_t at_ns = in_ms(1, PAUSE_MS);

    (void)arg;
    if (world.now_ns >= orders.faults_end_ns) {
        end_faults();
        return;
    }
    if (!world_has_room(SIZE_FAULTS)) {
        end_faults();
        return;
    }
    world.account->faults++;
    trace("fault", orders.class, 0);
    strikes[orders.class]();
    event_plan(&next, at_ns < orders.faults_end_ns ? at_ns : orders.faults_end_ns);
}

void orders_faults_begin(void)
{
    if (orders.class == CLASS_CALM)
        return;
    orders.faults_end_ns = chance_between(FIRST_MS, END_MS) * MS;
    if (orders.class == CLASS_NET)
        network_short_one_in = 12;
    if (orders.class == CLASS_PAUSE)
        task_stall_most_ns = 800 * MS;
    next = (struct event){.run = strike};
    event_plan(&next, FIRST_MS * MS);
}
