/* SPDX-License-Identifier: MIT */
/* faults.c -- one fault after another, each drawn by chance, until the faults end. */
#include "tests/simulation/faults.h"

#include "tests/simulation/recording.h"

enum { FIRST_MS = 100, PAUSE_MS = 500, END_MS = 5000 };

static struct event next;

static int any_server(void)
{
    return (int)chance_between(0, server_count - 1);
}

static struct process *any_process(void)
{
    return &workload.processes[chance_between(0, workload.process_count - 1)];
}

static int64_t in_ms(int64_t least, int64_t most)
{
    return world.now_ns + chance_skewed(least, most) * MS;
}

/* ---- net ---- */

static void strike_net(void)
{
    int64_t until_ns = in_ms(1, 2000);

    if (chance_one_in(3))
        (void)network_delay_one(until_ns);
    else if (chance_one_in(2))
        (void)network_cut(chance_one_in(2));
    else if (chance_one_in(3))
        for (int i = 0; i < workload.process_count; i++)
            network_hold(i, any_server(), until_ns);
    else
        network_hold(any_process()->site.number, any_server(), until_ns);
}

/* ---- crash ---- */

static void rise_again(void *arg)
{
    struct server *server = arg;

    server->is_down = false;
    tell("server %d is up again", (int)(server - servers));
}

static void bring_down(struct server *server, bool keeps_data, int64_t for_ms)
{
    static struct event rises[SERVERS_MAX];
    struct event *rise = &rises[server - servers];

    tell("FAULT server %d goes down for %d ms%s", (int)(server - servers), (int)for_ms,
         keeps_data ? "" : " and loses its data");
    network_cut_server(server);
    model_restart(&server->model, keeps_data);
    server->is_down = true;
    rise->run = rise_again;
    rise->arg = server;
    event_plan(rise, world.now_ns + for_ms * MS);
}

static void strike_crash(void)
{
    struct process *process = any_process();

    if (chance_one_in(4)) {
        bring_down(&servers[any_server()], true, chance_skewed(1, 500));
    } else if (process->is_open && !process->is_over && workload.process_count < PROCESSES_MAX) {
        (void)workload_add_process();
        workload_kill(process);
    }
}

/* ---- pause ---- */

static void strike_pause(void)
{
    struct site *site = chance_one_in(4) ? &servers[any_server()].site : &any_process()->site;

    site->stands_until_ns = in_ms(1, 3000);
    tell("FAULT site %d stands still for %d ms", site->number,
         (int)((site->stands_until_ns - world.now_ns) / MS));
}

/* ---- store ---- */

static void strike_store(void)
{
    struct server *server = &servers[any_server()];

    switch (chance_between(0, 5)) {
    case 0:
        bring_down(server, false, chance_skewed(1, 300));
        break;
    case 1:
        tell("FAULT the replica of server %d falls behind from here", (int)(server - servers));
        keys_clear(&server->copy);
        keys_copy(&server->copy, &server->model.keys);
        break;
    case 2: /* the replica that takes over has only the older state */
        bring_down(server, false, chance_skewed(1, 100));
        tell("its replica takes over, with the data of an earlier time");
        keys_copy(&server->model.keys, &server->copy);
        break;
    case 3:
        tell("FAULT server %d loses its scripts", (int)(server - servers));
        model_restart(&server->model, true);
        break;
    case 4:
        server->model.is_full = !server->model.is_full;
        tell("FAULT server %d is %s", (int)(server - servers),
             server->model.is_full ? "full" : "not full any more");
        break;
    default:
        server->site.stands_until_ns = in_ms(1, 400);
        tell("FAULT server %d is slow for %d ms", (int)(server - servers),
             (int)((server->site.stands_until_ns - world.now_ns) / MS));
    }
}

/* ---- clock ---- */

static void strike_clock(void)
{
    int64_t by_ms = chance_skewed(1, 5000) * (chance_one_in(2) ? -1 : 1);
    struct process *process = any_process();

    if (chance_one_in(2)) {
        servers[any_server()].site.wall_ms += by_ms;
        tell("FAULT the clock of a server steps by %d ms", (int)by_ms);
    } else {
        process->site.wall_ms += by_ms;
        tell("FAULT the wall clock of process %d steps by %d ms", process->site.number, (int)by_ms);
    }
}

const struct class_row class_rows[CLASS_COUNT] = {
    [CLASS_CALM] = {"calm", "no fault", NULL, DLOCK_ASSUMES_NONE},
    [CLASS_NET] = {"net", "late messages, cuts, short writes, partitions", strike_net,
                   DLOCK_ASSUMES_NETWORK},
    [CLASS_CRASH] = {"crash", "killed processes, servers that restart with their data",
                     strike_crash, DLOCK_ASSUMES_PROCESS},
    [CLASS_PAUSE] = {"pause", "processes, threads and servers stand still", strike_pause,
                     DLOCK_ASSUMES_PROCESS},
    [CLASS_STORE] = {"store", "servers lose data or scripts, are full or slow", strike_store,
                     DLOCK_ASSUMES_STORE},
    [CLASS_CLOCK] = {"clock", "wall clocks of servers and processes step", strike_clock,
                     DLOCK_ASSUMES_CLOCK},
};

static void end_faults(void)
{
    tell("the faults are over");
    for (int i = 0; i < server_count; i++)
        servers[i].model.is_full = false;
    task_stall_most_ns = TASK_STALL_NS;
    network_short_one_in = 0;
}

static void strike(void *arg)
{
    int64_t at_ns = in_ms(1, PAUSE_MS);

    (void)arg;
    if (world.now_ns >= workload.faults_end_ns) {
        end_faults();
        return;
    }
    if (!world_has_room(SIZE_FAULTS)) {
        end_faults();
        return;
    }
    world.account->faults++;
    trace("fault", workload.class, 0);
    class_rows[workload.class].strike();
    recording_fault(class_rows[workload.class].text, class_rows[workload.class].breaks);
    event_plan(&next, at_ns < workload.faults_end_ns ? at_ns : workload.faults_end_ns);
}

void faults_begin(void)
{
    if (class_rows[workload.class].strike == NULL)
        return;
    workload.faults_end_ns = chance_between(FIRST_MS, END_MS) * MS;
    if (workload.class == CLASS_NET)
        network_short_one_in = 12;
    if (workload.class == CLASS_PAUSE)
        task_stall_most_ns = 800 * MS;
    next = (struct event){.run = strike};
    event_plan(&next, FIRST_MS * MS);
}
