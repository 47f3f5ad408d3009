/* SPDX-License-Identifier: MIT */
/* owner.c -- the numbers of threads, from one counter, and the ends of threads.
 *
 * A destructor of thread-specific data notices the end of a thread.  Destructors of the
 * program may still release locks, so this destructor sets its value again until its
 * last call but one: in the last call the sanitizers delete their data of the
 * thread. */
#include "lock/owner.h"

#include <inttypes.h>
#include <limits.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/os/once.h"
#include "base/os/thread.h"
#include "lock/process.h"
#include "lock/status.h"

enum { LAST_TURN = DLOCK_THREAD_END_CALLS - 1 };

struct dlock_life {
    atomic_int share_count;
    atomic_bool ended;
    int turns; /* calls of the destructor so far; of this thread */
};

static _Thread_local struct dlock_owner here;
static struct dlock_once key_once = DLOCK_ONCE_INITIALIZER;
static struct dlock_thread_value key;
static bool has_key;

uint64_t dlock_owner_draw(char text[DLOCK_NUMBER_SIZE])
{
    uint64_t number = atomic_fetch_add(&dlock_process_here()->last_number, 1) + 1;

    snprintf(text, DLOCK_NUMBER_SIZE, "%" PRIu64, number);
    return number;
}

/* The destructor: mark the thread as ended, or set the value again so that other
 * destructors run first. */
static void end_life(void *arg)
{
    struct dlock_life *life = arg;

    if (++life->turns < LAST_TURN &&
        dlock_thread_value_set(key, life))
        return;
    here.life = NULL;
    atomic_store(&life->ended, true);
    dlock_life_drop(life);
}

static void make_key(void)
{
    has_key = dlock_thread_value_make(&key, end_life);
}

static struct dlock_life *begin_life(void)
{
    struct dlock_life *life;

    dlock_once_run(&key_once, make_key);
    life = has_key ? dlock_life_begin() : NULL;
    if (life == NULL)
        return NULL;
    if (dlock_thread_value_set(key, life))
        return life;
    free(life);
    return NULL;
}

const struct dlock_owner *dlock_owner_here(void)
{
    const struct dlock_caller *caller = dlock_caller_here();

    if (caller != NULL)
        return caller->owner;
    if (here.thread == 0) {
        here.thread = dlock_owner_draw(here.number);
        here.life = begin_life();
    }
    return &here;
}

void dlock_owner_retire(void)
{
    struct dlock_caller *caller = dlock_caller_here();

    if (caller != NULL)
        dlock_owner_draw(caller->owner->number);
    else if (here.thread != 0)
        dlock_owner_draw(here.number);
}

struct dlock_life *dlock_life_begin(void)
{
    struct dlock_life *life = calloc(1, sizeof(*life));

    if (life != NULL)
        atomic_store(&life->share_count, 1);
    return life;
}

void dlock_life_end(struct dlock_life *life)
{
    atomic_store(&life->ended, true);
    dlock_life_drop(life);
}

struct dlock_life *dlock_life_share(void)
{
    struct dlock_life *life = dlock_owner_here()->life;

    if (life != NULL)
        atomic_fetch_add(&life->share_count, 1);
    return life;
}

void dlock_life_drop(struct dlock_life *life)
{
    if (life != NULL && atomic_fetch_sub(&life->share_count, 1) == 1)
        free(life);
}

bool dlock_life_has_ended(const struct dlock_life *life)
{
    return life != NULL && atomic_load(&life->ended);
}
