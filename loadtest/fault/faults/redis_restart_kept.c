/* SPDX-License-Identifier: MIT */
/* redis_restart_kept.c -- a Redis server is killed and starts again at once with every
 * write that it had answered, because its append-only file is on disk before each answer.
 */
#include <inttypes.h>
#include <unistd.h>

#include "loadtest/fault/redis.h"

enum { REWRITE_MS = 20000 };

/* The append-only file is complete once the server has written its earlier data to it. */
static bool arm(struct fault_scene *scene)
{
    bool *keeps = server_fault_state(scene, sizeof *keeps);
    struct redis_side *side = fault_redis_open(scene);

    if (!side)
        return false;
    if (redis_side_ask(side, "CONFIG SET appendfsync always") != REDIS_SAID ||
        redis_side_ask(side, "CONFIG SET appendonly yes") != REDIS_SAID)
        return fault_redis_complain(scene, side, "CONFIG SET appendonly");
    *keeps = true;
    return (redis_side_await(side, "aof_enabled", "1", REWRITE_MS) &&
            redis_side_await(side, "aof_rewrite_scheduled", "0", REWRITE_MS) &&
            redis_side_await(side, "aof_rewrite_in_progress", "0", REWRITE_MS)) ||
           server_fault_complain(scene, "its append-only file is not whole after %d s",
                                 REWRITE_MS / 1000);
}

/* Proof that the file was read: a server that starts without the file has no data. */
static bool has_file(struct fault_scene *scene)
{
    struct redis_side *side = fault_redis_open(scene);

    return (side && redis_side_info_number(side, "aof_enabled") == 1) ||
           server_fault_complain(scene, "it was started without its append-only file");
}

static bool begin(struct fault_scene *scene)
{
    struct redis_life before, after;

    if (!fault_redis_look(scene, &before) || !server_fault_kill(scene) ||
        !server_fault_bring_up(scene) || !has_file(scene) ||
        !fault_redis_look(scene, &after))
        return false;
    server_fault_note(scene,
                      "%s: run_id %.8s.. -> %.8s.., it had %" PRId64
                      " keys and has %" PRId64 " from its append-only file",
                      scene->server->name, before.run_id, after.run_id, before.keys,
                      after.keys);
    return true;
}

/* The server keeps nothing, as before. */
static bool forget(struct fault_scene *scene)
{
    struct redis_side *side = fault_redis_open(scene);
    char path[FILES_PATH_MAX];
    bool ok = side && (redis_side_ask(side, "CONFIG SET appendonly no") == REDIS_SAID ||
                       fault_redis_complain(scene, side, "CONFIG SET appendonly"));

    lab_redis_log_path(scene->lab, scene->server, path);
    if (access(path, F_OK) == 0 && !files_remove_tree(path))
        return server_fault_complain(scene, "cannot remove %s", path);
    return ok;
}

static bool disarm(struct fault_scene *scene)
{
    bool *keeps = server_fault_state(scene, sizeof *keeps);

    if (!server_fault_bring_up(scene))
        return false;
    if (!*keeps)
        return true;
    *keeps = false;
    return forget(scene);
}

const struct server_fault fault_redis_restart_kept = {
    .name = "redis-restart-kept",
    .does = "the server dies (SIGKILL) and starts at once with its append-only file",
    .servers = FAULT_ON(LAB_IS_REDIS),
    .breaks = {[LAB_IS_REDIS] = DLOCK_ASSUMES_NETWORK},
    .arm = arm,
    .begin = begin,
    .disarm = disarm,
};
