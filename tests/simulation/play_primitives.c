/* SPDX-License-Identifier: MIT */
/* play_primitives.c -- opens primitives, and reads the server that keeps them. */
#include "tests/simulation/play_primitives.h"

#include <string.h>

enum { LOOK_MS = 20, AGAIN_MS = 50, TIMEOUT_MS = 500 };

static struct event next_look;

bool play_open(struct process *process)
{
    dlock_status st = dlock_primitives_open(&process->prims, "redis://127.0.0.1:7000",
                                            TIMEOUT_MS);

    workload_check("an open", st);
    return st == DLOCK_OK;
}

void play_close(struct process *process)
{
    dlock_primitives_close(process->prims);
}

bool play_may_be_done(dlock_status st)
{
    return st == DLOCK_UNKNOWN || st == DLOCK_PROTOCOL;
}

void play_pause_after(dlock_status st)
{
    if (dlock_is_failure(st))
        task_pause(AGAIN_MS * MS);
}

int64_t play_number(const char *key)
{
    struct model *model = &servers[0].model;
    struct bytes name = {(char *)(uintptr_t)key, strlen(key)};
    const struct key *found = keys_find(&model->keys, name, model_now_ms(model));
    int64_t number = 0;

    if (found != NULL && found->kind == STRING)
        (void)bytes_number(found->string, &number);
    return number;
}

static void look_again(void *arg)
{
    void (**look)(void) = arg;

    (*look)();
    event_plan(&next_look, world.now_ns + LOOK_MS * MS);
}

void play_begin_looks(void (*look)(void))
{
    static void (*looks)(void);

    looks = look;
    next_look = (struct event){.run = look_again, .arg = &looks};
    event_plan(&next_look, LOOK_MS * MS);
}

void play_note_since(int64_t *since_ns, bool is_so)
{
    if (!is_so)
        *since_ns = -1;
    else if (*since_ns < 0)
        *since_ns = world.now_ns;
}

bool play_is_asleep(int64_t free_since_ns, int64_t asked_ns)
{
    int64_t long_ago_ns = world.now_ns - PLAY_ASLEEP_MS * MS;

    return world.is_calm && free_since_ns >= 0 && free_since_ns <= long_ago_ns &&
           asked_ns >= 0 && asked_ns <= long_ago_ns;
}
