/* SPDX-License-Identifier: MIT */
/* workload.c -- the plan of a workload, and the life of a process. */
#include "tests/simulation/workload.h"

#include <stdio.h>

#include "tests/simulation/subject.h"

enum {
    OPEN_AGAIN_MS = 50,
    WORLD_ENDS_S = 900,
};

struct workload workload;

void workload_check(const char *call, dlock_status st)
{
    bool is_fault = st == DLOCK_IO || st == DLOCK_UNKNOWN;

    world.account->calls++;
    tell("%s answers %s %s", call, dlock_status_id(st), st == DLOCK_OK ? "" : dlock_error());
    trace("answer", (int64_t)st, 0);
    if (st == DLOCK_PROTOCOL && workload.class == CLASS_STORE)
        return; /* the server was full */
    if (!dlock_is_failure(st) || (is_fault && !world.is_calm))
        return;
    world_condemn(CRASH, "%s answers %s: %s", call, dlock_status_id(st), dlock_error());
}

void workload_pause_ms(int64_t most_ms)
{
    task_pause(chance_skewed(1000, most_ms < 1 ? MS : most_ms * MS));
}

void workload_await_end_of_faults(void)
{
    if (world.now_ns < workload.faults_end_ns)
        task_pause(workload.faults_end_ns - world.now_ns + chance_between(1, 1000) * MS);
}

/* ---- threads and processes ---- */

static void end_process(struct process *process)
{
    process->is_over = true;
    for (int i = 0; i < workload.process_count; i++)
        if (!workload.processes[i].is_over)
            return;
    world.is_over = true;
}

static void *run_thread(void *arg)
{
    struct process *process = arg;

    dlock_process_enter(&process->own);
    workload.doings->play(process);
    process->ended_count++;
    task_wake(process->main);
    return NULL;
}

static void *run_process(void *arg)
{
    struct process *process = arg;

    dlock_process_enter(&process->own);
    while (!workload.doings->open(process) && !world.is_over)
        task_pause(OPEN_AGAIN_MS * MS);
    process->is_open = true;
    for (int i = 0; i < process->thread_count; i++)
        if (task_begin(&process->site, run_thread, process) == NULL)
            process->ended_count++;
    while (process->ended_count < process->thread_count)
        (void)task_sleep(INT64_MAX);
    process->is_open = false;
    workload.doings->close(process);
    end_process(process);
    return NULL;
}

static bool add_process(const struct process *parent)
{
    struct process *process;

    if (workload.process_count == PROCESSES_MAX)
        return false;
    process = &workload.processes[workload.process_count];
    process->site = (struct site){
        .offset_ns = chance_between(1, 100000) * SECOND,
        .drift_ppb = chance_between(-200000, 200000),
    };
    if (parent != NULL)
        process->site = parent->site;
    process->site.number = workload.process_count;
    process->site.fork_count += parent != NULL;
    process->lost_fd = -1;
    process->thread_count =
        (int)world_size(SIZE_THREADS, chance_between(1, chance_one_in(8) ? THREADS_MAX : 2));
    if (!dlock_process_init(&process->own))
        return false;
    if (parent != NULL) /* the memory of the child is a copy of its parent's */
        atomic_store(&process->own.last_number, atomic_load(&parent->own.last_number));
    workload.process_count++;
    process->is_used = true;
    process->main = task_begin(&process->site, run_process, process);
    return process->main != NULL;
}

bool workload_add_process(void)
{
    return add_process(NULL);
}

bool workload_add_child(struct process *parent)
{
    return add_process(parent);
}

void workload_kill(struct process *process)
{
    process->site.is_dead = true;
    process->is_open = false;
    if (workload.doings->forget != NULL)
        workload.doings->forget(process);
    network_cut_process(&process->site);
    tell("FAULT process %d is killed", process->site.number);
    end_process(process);
}

/* ---- the plan ---- */

static void end_world(void *arg)
{
    (void)arg;
    world_condemn(ENDLESS, "the workload has not come to its end after %d s", WORLD_ENDS_S);
}

void workload_begin(const struct play *play)
{
    static struct event end = {.run = end_world};
    int process_count =
        (int)world_size(SIZE_PROCESSES, chance_between(2, chance_one_in(8) ? 6 : 4));

    workload.variant = play->variant;
    workload.class = play->class;
    world.is_calm = play->class == CLASS_CALM;
    workload.works_late = !world.is_calm;
    workload.name_count = (int)world_size(
        SIZE_NAMES, chance_one_in(3) ? chance_between(2, NAMES_MAX) : 1);
    for (int i = 0; i < workload.name_count; i++)
        (void)snprintf(workload.names[i], NAME_SIZE, "lock:%c", 'a' + i);
    workload.lease_ms = (int)chance_between(200, 2000);
    workload.round_count = (int)world_size(SIZE_ROUNDS, chance_between(4, 12));
    workload.doings = subject_doings(play->variant);
    workload.doings->plan();
    for (int i = 0; i < process_count; i++)
        (void)workload_add_process();
    event_plan(&end, WORLD_ENDS_S * SECOND);
}
