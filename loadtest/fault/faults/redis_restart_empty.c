/* SPDX-License-Identifier: MIT */
/* redis_restart_empty.c -- a Redis server dies and comes back at once, with nothing. */
#include <inttypes.h>

#include "loadtest/fault/redis.h"

struct restart {
    bool is_dead;
    int64_t keys;
    char run_id[FAULT_ID_MAX];
};

static bool look(struct fault_scene *scene, struct restart *restart)
{
    struct redis_side *side = fault_redis_open(scene);
    bool ok = side && fault_redis_needs_key(scene, side) &&
              redis_side_info(side, "run_id", restart->run_id, sizeof restart->run_id);

    restart->keys = ok ? redis_side_keys(side) : -1;
    redis_side_close(side);
    return restart->keys >= 0;
}

static bool begin(struct fault_scene *scene)
{
    struct restart *restart = server_fault_state(scene, sizeof *restart);
    char run_id[FAULT_ID_MAX];
    int64_t loaded;

    if (!fault_redis_forget(scene) || !look(scene, restart))
        return false;
    restart->is_dead = true;
    if (!fault_redis_kill(scene) || !fault_redis_start(scene, run_id, &loaded))
        return false;
    restart->is_dead = false;
    /* The clients' writes since then do not count. */
    if (loaded != 0)
        return server_fault_complain(scene, "it came back with %" PRId64 " keys", loaded);
    server_fault_note(scene,
                      "%s: run_id %.8s.. -> %.8s.., it had %" PRId64
                      " keys and loaded 0%s%s%s",
                      scene->server->name, restart->run_id, run_id, restart->keys,
                      scene->key ? ": " : "", scene->key ? scene->key : "",
                      scene->key ? " is gone" : "");
    return true;
}

static bool disarm(struct fault_scene *scene)
{
    struct restart *restart = server_fault_state(scene, sizeof *restart);

    return !restart->is_dead || child_runs(&scene->server->child) ||
           lab_server_bring_up(scene->lab, scene->server);
}

const struct server_fault fault_redis_restart_empty = {
    .name = "redis-restart-empty",
    .does = "the server dies (SIGKILL) and starts at once without its data",
    .servers = FAULT_ON(LAB_IS_REDIS),
    .breaks = {[LAB_IS_REDIS] = DLOCK_ASSUMES_STORE},
    .begin = begin,
    .disarm = disarm,
};
