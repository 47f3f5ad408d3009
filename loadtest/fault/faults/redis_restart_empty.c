/* SPDX-License-Identifier: MIT */
/* redis_restart_empty.c -- a Redis server dies and comes back at once, with nothing. */
#include <inttypes.h>

#include "loadtest/fault/redis.h"

static bool begin(struct fault_scene *scene)
{
    struct redis_life before;
    char run_id[FAULT_ID_MAX];

    /* The clients' writes after the start do not count. */
    if (!fault_redis_forget(scene) || !fault_redis_look(scene, &before) ||
        !server_fault_kill(scene) || !fault_redis_start(scene, 0, run_id))
        return false;
    server_fault_note(scene,
                      "%s: run_id %.8s.. -> %.8s.., it had %" PRId64
                      " keys and loaded 0%s%s%s",
                      scene->server->name, before.run_id, run_id, before.keys,
                      scene->key ? ": " : "", scene->key ? scene->key : "",
                      scene->key ? " is gone" : "");
    return true;
}

const struct server_fault fault_redis_restart_empty = {
    .name = "redis-restart-empty",
    .does = "the server dies (SIGKILL) and starts at once without its data",
    .servers = FAULT_ON(LAB_IS_REDIS),
    .breaks = {[LAB_IS_REDIS] = DLOCK_ASSUMES_STORE},
    .begin = begin,
};
