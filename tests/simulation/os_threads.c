/* SPDX-License-Identifier: MIT */
/* os_threads.c -- mutexes, conditions, bells and threads of simulated processes, in place of
 * mutex.c, condition.c, bell.c and thread.c of base/os/.
 *
 * The library locks a mutex of base/os/mutex.h inline by functions of the C library. The linker
 * replaces these by functions of this file (--wrap), which use the memory of the C library's mutex
 * for their own data. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/os/bell.h"
#include "base/os/clock.h"
#include "base/os/condition.h"
#include "base/os/condition_line.h"
#include "base/os/fiber.h"
#include "base/os/thread.h"
#include "lock/process.h"
#include "tests/simulation/os.h"

/* ---- mutexes ---- */

struct exclusion {
    struct task *owner;
    struct task *first; /* the first of the waiting tasks */
};

static struct task nobody; /* the owner of a mutex that is locked before a world begins */

int __wrap_pthread_mutex_init(pthread_mutex_t *mutex, const pthread_mutexattr_t *attributes);
int __wrap_pthread_mutex_destroy(pthread_mutex_t *mutex);
int __wrap_pthread_mutex_lock(pthread_mutex_t *mutex);
int __wrap_pthread_mutex_unlock(pthread_mutex_t *mutex);

static void join_line(struct task **line, struct task *task)
{
    while (*line != NULL)
        line = &(*line)->next;
    task->next = NULL;
    *line = task;
}

static struct task *take_first(struct task **line)
{
    struct task *first = *line;

    if (first != NULL)
        *line = first->next;
    return first;
}

static bool leave_line(struct task **line, const struct task *task)
{
    for (; *line != NULL; line = &(*line)->next)
        if (*line == task) {
            *line = task->next;
            return true;
        }
    return false;
}

int __wrap_pthread_mutex_init(pthread_mutex_t *mutex, const pthread_mutexattr_t *attributes)
{
    (void)attributes;
    memset(mutex, 0, sizeof(*mutex));
    return 0;
}

int __wrap_pthread_mutex_destroy(pthread_mutex_t *mutex)
{
    (void)mutex;
    return 0;
}

int __wrap_pthread_mutex_lock(pthread_mutex_t *mutex)
{
    struct exclusion *lock = (struct exclusion *)(void *)mutex;

    task_may_stall();
    while (lock->owner != NULL && task_here != NULL) {
        join_line(&lock->first, task_here);
        (void)task_sleep(INT64_MAX);
        (void)leave_line(&lock->first, task_here);
    }
    lock->owner = task_here != NULL ? task_here : &nobody;
    return 0;
}

int __wrap_pthread_mutex_unlock(pthread_mutex_t *mutex)
{
    struct exclusion *lock = (struct exclusion *)(void *)mutex;

    if (lock->owner != (task_here != NULL ? task_here : &nobody))
        world_condemn(CRASH, "a mutex is unlocked by a thread that does not hold it");
    lock->owner = NULL;
    task_wake(take_first(&lock->first));
    task_may_stall();
    return 0;
}

int dlock_mutex_count_held(void)
{
    return 0;
}

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
_Thread_local int dlock_mutexes_held;
#endif

/* ---- conditions: the memory of the C library's condition has the line of waiting tasks ---- */

static struct task **line_of(struct dlock_condition *condition)
{
    return (struct task **)(void *)&condition->os;
}

bool dlock_condition_init(struct dlock_condition *condition)
{
    memset(condition, 0, sizeof(*condition));
    return true;
}

void dlock_condition_destroy(struct dlock_condition *condition)
{
    (void)condition;
}

void dlock_condition_signal(struct dlock_condition *condition)
{
    if (condition->fibers != NULL)
        dlock_condition_line_wake(&condition->fibers);
    task_wake(take_first(line_of(condition)));
}

void dlock_condition_broadcast(struct dlock_condition *condition)
{
    while (condition->fibers != NULL || *line_of(condition) != NULL)
        dlock_condition_signal(condition);
}

static void wait_until(struct dlock_condition *condition, struct dlock_mutex *mutex,
                       int64_t world_ns)
{
    join_line(line_of(condition), task_here);
    task_held_fast++; /* no task is stopped between its place in the line and the unlock */
    dlock_mutex_unlock(mutex);
    task_held_fast--;
    (void)task_sleep(world_ns);
    (void)leave_line(line_of(condition), task_here);
    dlock_mutex_lock(mutex);
}

void dlock_condition_wait(struct dlock_condition *condition, struct dlock_mutex *mutex)
{
    if (dlock_fiber_here() != NULL)
        (void)dlock_condition_line_wait(&condition->fibers, mutex, INT64_MAX);
    else
        wait_until(condition, mutex, INT64_MAX);
}

bool dlock_condition_wait_until(struct dlock_condition *condition,
                                struct dlock_mutex *mutex, int64_t until_ns)
{
    struct dlock_fiber *fiber = dlock_fiber_here();

    if (dlock_clock_ns() >= until_ns)
        return false;
    if (fiber != NULL) {
        bool is_woken = dlock_condition_line_wait(&condition->fibers, mutex, until_ns);

        return (is_woken || !(fiber->is_hurried && fiber->may_hurry)) &&
               dlock_clock_ns() < until_ns;
    }
    wait_until(condition, mutex, site_world_ns(task_here->site, until_ns));
    return dlock_clock_ns() < until_ns;
}

/* ---- bells ---- */

enum { SILENT, AWAITED_BY_FIBER, RUNG };

bool dlock_bell_is_rung(const struct dlock_bell *bell)
{
    return atomic_load(&bell->state) == RUNG;
}

static bool wait_in_fiber(struct dlock_bell *bell, struct dlock_fiber *fiber,
                          int64_t until_ns)
{
    if (dlock_bell_is_rung(bell))
        return true;
    atomic_store(&bell->sleeper, fiber);
    atomic_store(&bell->state, AWAITED_BY_FIBER);
    if (fiber->host->sleep(fiber, until_ns))
        return true;
    if (!dlock_bell_is_rung(bell)) {
        atomic_store(&bell->state, SILENT);
        atomic_store(&bell->sleeper, NULL);
        return false;
    }
    dlock_fiber_let_hurry(false); /* the wake-up is under way */
    (void)fiber->host->sleep(fiber, INT64_MAX);
    return true;
}

bool dlock_bell_wait(struct dlock_bell *bell, int64_t until_ns)
{
    struct site *site = task_here->site;

    if (dlock_fiber_here() != NULL)
        return wait_in_fiber(bell, dlock_fiber_here(), until_ns);
    while (!dlock_bell_is_rung(bell) && site_clock_ns(site) < until_ns) {
        atomic_store(&bell->sleeper, (struct dlock_fiber *)(void *)task_here);
        (void)task_sleep(site_world_ns(site, until_ns));
    }
    atomic_store(&bell->sleeper, NULL);
    return dlock_bell_is_rung(bell);
}

/* After the change of the state, the sleeper may go on and free the bell. So nothing may use the
 * bell after that. */
static void ring(struct dlock_bell *bell)
{
    struct dlock_fiber *sleeper = atomic_load(&bell->sleeper);
    bool is_fiber = atomic_load(&bell->state) == AWAITED_BY_FIBER;

    atomic_store(&bell->state, RUNG);
    if (is_fiber)
        sleeper->host->wake(sleeper);
    else
        task_wake((struct task *)(void *)sleeper);
}

void dlock_bell_ring(struct dlock_bell *bell)
{
    ring(bell);
    task_may_stall();
}

void dlock_bell_ring_two(struct dlock_bell *a, struct dlock_bell *b)
{
    ring(b);
    dlock_bell_ring(a);
}

/* ---- threads ---- */

/* A thread to be started; it belongs to the process of the thread that starts it. */
struct thread_begin {
    void *(*run)(void *arg);
    void *arg;
    struct dlock_process *process;
};

static void *run_in_process(void *arg)
{
    struct thread_begin begin = *(struct thread_begin *)arg;

    free(arg);
    dlock_process_enter(begin.process);
    return begin.run(begin.arg);
}

int dlock_thread_start(struct dlock_thread *out, void *(*run)(void *arg), void *arg)
{
    struct thread_begin *begin = malloc(sizeof(*begin));
    struct task *task;

    if (begin == NULL)
        abort();
    *begin = (struct thread_begin){run, arg, dlock_process_here()};
    task = task_begin(task_here->site, run_in_process, begin);
    memcpy(&out->os, &task, sizeof(task));
    return task != NULL ? 0 : EAGAIN;
}

void dlock_thread_join(struct dlock_thread *thread)
{
    struct task *task;

    memcpy(&task, &thread->os, sizeof(task));
    task->joined_by = task_here;
    while (!task->is_over)
        (void)task_sleep(INT64_MAX);
}

void dlock_thread_yield(void)
{
    struct dlock_fiber *fiber = dlock_fiber_here();

    if (fiber != NULL)
        fiber->host->yield(fiber);
    else
        task_pause(chance_between(100, 5000));
}

uint32_t dlock_thread_id(void)
{
    return task_here != NULL ? (uint32_t)task_here->number + 1 : 1;
}

static void (*value_ends[TASK_VALUES_MAX])(void *value);
static unsigned value_count;

bool dlock_thread_value_make(struct dlock_thread_value *out, void (*at_end)(void *value))
{
    if (value_count == TASK_VALUES_MAX)
        return false;
    value_ends[value_count] = at_end;
    out->os = value_count++;
    return true;
}

bool dlock_thread_value_set(struct dlock_thread_value value, void *to)
{
    task_here->values[value.os] = to;
    return true;
}

void os_end_values(struct task *task)
{
    for (int turn = 0; turn < DLOCK_THREAD_END_CALLS; turn++)
        for (unsigned i = 0; i < value_count; i++) {
            void *value = task->values[i];

            task->values[i] = NULL;
            if (value != NULL && value_ends[i] != NULL)
                value_ends[i](value);
        }
}
