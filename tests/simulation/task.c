/* SPDX-License-Identifier: MIT */
/* task.c -- tasks on the stacks of base/os/stack.h.
 *
 * Events run on the stack of the real thread. The event of a task switches to the task's stack, and
 * the task switches back when it sleeps. */
#include "tests/simulation/task.h"

#include <link.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/os/stack.h"
#include "base/os/thread.h"
#include "tests/simulation/os.h"

struct task *task_here;
int task_held_fast;
uint32_t task_stall_one_in = 16;
int64_t task_stall_most_ns = TASK_STALL_NS;

static struct task tasks[TASKS_MAX];
static int task_count;
static struct dlock_stack *own; /* of the real thread */

/* The thread-local block of the program: its address, its length, and a copy of its first state. */
static char *block;
static size_t block_size;
static char *pristine;
static struct task *block_of; /* the task whose variables are in the block; NULL: none */

/* The first object that dl_iterate_phdr() reports is the program itself. */
static int find_block(struct dl_phdr_info *info, size_t size, void *arg)
{
    (void)size;
    (void)arg;
    for (int i = 0; i < info->dlpi_phnum; i++)
        if (info->dlpi_phdr[i].p_type == PT_TLS) {
            block = info->dlpi_tls_data;
            block_size = info->dlpi_phdr[i].p_memsz;
        }
    return 1;
}

void task_note_switch(const struct dlock_stack *from, struct dlock_stack *to)
{
    if (from != own && to != own && task_here != NULL)
        task_here->on = task_here->on == task_here->stack ? to : task_here->stack;
}

static void take_block(struct task *task)
{
    if (block_of == task)
        return;
    if (block_of != NULL)
        memcpy(block_of->locals, block, block_size);
    memcpy(block, task->locals, block_size);
    block_of = task;
}

/* Note the reason for the task's next run, and the delay that was drawn for it. */
static void note_why(struct task *task, const char *why, int64_t at_ns)
{
    if (!world.is_told)
        return;
    if (at_ns == INT64_MAX)
        (void)snprintf(task->why, sizeof(task->why), "%s", why);
    else
        (void)snprintf(task->why, sizeof(task->why), "%s, %.3f ms after %.6f", why,
                       (double)(at_ns - world.now_ns) / 1e6, (double)world.now_ns / 1e6);
}

static void leave(struct task *task)
{
    task_here = NULL;
    dlock_stack_switch(task->on, own);
}

static void enter(void *arg)
{
    struct task *task = arg;

    if (task->site->is_dead || task->is_over)
        return;
    if (task->site->stands_until_ns > world.now_ns) {
        event_plan(&task->wake, task->site->stands_until_ns);
        note_why(task, "its process stood still until now", task->wake.at_ns);
        return;
    }
    world.account->switches++;
    trace("run", task->number, 0);
    tell("process %d task %d runs: %s", task->site->number, task->number, task->why);
    take_block(task);
    task_here = task;
    dlock_stack_switch(own, task->on);
}

/* The function of a stack: runs one task. */
static void live(void *arg)
{
    struct task *task = arg;

    task->run(task->arg);
    os_end_values(task);
    task->is_over = true;
    task_wake(task->joined_by);
    leave(task);
    abort();
}

void tasks_prepare(void)
{
    dl_iterate_phdr(find_block, NULL);
    own = dlock_stack_of_thread();
    pristine = malloc(block_size + 1);
    if (own == NULL || pristine == NULL)
        abort();
    memcpy(pristine, block, block_size);
    for (int i = 0; i < TASKS_MAX; i++) {
        tasks[i].number = i;
        tasks[i].wake = (struct event){.run = enter, .arg = &tasks[i]};
        tasks[i].stack = dlock_stack_new(live, &tasks[i]);
        tasks[i].locals = malloc(block_size + 1);
        if (tasks[i].stack == NULL || tasks[i].locals == NULL)
            abort();
    }
}

struct task *task_begin(struct site *site, void *(*run)(void *arg), void *arg)
{
    struct task *task;

    if (task_count == TASKS_MAX)
        return NULL;
    task = &tasks[task_count++];
    task->site = site;
    task->on = task->stack;
    task->run = run;
    task->arg = arg;
    memcpy(task->locals, pristine, block_size);
    event_plan(&task->wake, world.now_ns + chance_between(1000, 50000));
    note_why(task, "it begins", task->wake.at_ns);
    return task;
}

bool task_sleep(int64_t until_ns)
{
    struct task *task = task_here;
    bool was_woken;

    if (!task->is_woken) {
        task->is_asleep = true;
        if (until_ns != INT64_MAX)
            event_plan(&task->wake, until_ns);
        note_why(task, "its sleep has ended", until_ns);
        leave(task);
        task->is_asleep = false;
    }
    was_woken = task->is_woken;
    task->is_woken = false;
    return was_woken;
}

void task_wake(struct task *task)
{
    if (task == NULL || task->is_woken || task->is_over)
        return;
    task->is_woken = true;
    if (task->is_asleep)
        event_plan(&task->wake, world.now_ns + chance_between(500, 10000));
    if (task->is_asleep)
        note_why(task, "it was woken", task->wake.at_ns);
}

void task_pause(int64_t for_ns)
{
    struct task *task = task_here;
    int64_t until_ns = world.now_ns + for_ns;

    if (task == NULL || task_held_fast > 0)
        return;
    event_plan(&task->wake, until_ns);
    if (world.heap[1] == &task->wake && task->site->stands_until_ns <= until_ns) {
        /* No other event is planned until then, so the time moves on at once. */
        event_drop(&task->wake);
        world.now_ns = until_ns;
        return;
    }
    note_why(task, "its pause has ended", until_ns);
    leave(task);
}

void task_may_stall(void)
{
    if (task_here == NULL || task_held_fast > 0 || !chance_one_in(task_stall_one_in))
        return;
    task_pause(chance_skewed(100, task_stall_most_ns));
}
