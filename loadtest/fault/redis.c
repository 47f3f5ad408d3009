/* SPDX-License-Identifier: MIT */
/* redis.c -- steps that several faults of Redis share. */
#include "loadtest/fault/redis.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>
#include <unistd.h>

enum { SAVE_PAUSE_MS = 10000 };

struct redis_side *fault_redis_open(struct fault_scene *scene)
{
    redis_side_close(scene->side);
    scene->side = redis_side_open(scene->lab, scene->server, REDIS_SIDE_MS);
    /* A server that cannot save answers even PING with an error. */
    if (redis_side_ask(scene->side, "PING") != REDIS_SILENT)
        return scene->side;
    fault_redis_complain(scene, scene->side, "PING");
    redis_side_close(scene->side);
    return scene->side = NULL;
}

bool fault_redis_complain(const struct fault_scene *scene,
                          const struct redis_side *side, const char *what)
{
    const char *text = redis_side_text(side);

    return server_fault_complain(scene, "to %s the server says: %s", what,
                                 *text ? text : "nothing");
}

bool fault_redis_needs_key(const struct fault_scene *scene, struct redis_side *side)
{
    bool there;

    if (!scene->key || !*scene->key)
        return true;
    if (!redis_side_has(side, scene->key, &there))
        return fault_redis_complain(scene, side, "EXISTS");
    return there || server_fault_complain(scene,
                                          "it has no key %s, so there is nothing to lose\n"
                                          "  take the lock first",
                                          scene->key);
}

bool fault_redis_look(struct fault_scene *scene, struct redis_life *life)
{
    struct redis_side *side = fault_redis_open(scene);

    if (!side || !fault_redis_needs_key(scene, side) ||
        !redis_side_info(side, "run_id", life->run_id, sizeof life->run_id))
        return false;
    life->keys = redis_side_keys(side);
    return life->keys >= 0;
}

int64_t fault_redis_save(struct fault_scene *scene)
{
    struct redis_side *side = fault_redis_open(scene);

    if (!side)
        return -1;
    if (redis_side_ask(side, "CLIENT PAUSE %d WRITE", SAVE_PAUSE_MS) != REDIS_SAID)
        fault_redis_complain(scene, side, "CLIENT PAUSE");
    else if (redis_side_ask(side, "SAVE") != REDIS_SAID)
        fault_redis_complain(scene, side, "SAVE");
    else
        return redis_side_keys(side);
    return -1;
}

bool fault_redis_forget(const struct fault_scene *scene)
{
    char path[FILES_PATH_MAX];

    lab_redis_data_path(scene->lab, scene->server, path);
    return unlink(path) == 0 || errno == ENOENT ||
           server_fault_complain(scene, "cannot remove %s: %s", path, strerror(errno));
}

bool fault_redis_start(struct fault_scene *scene, int64_t keys,
                       char run_id[FAULT_ID_MAX])
{
    struct redis_side *side;
    int64_t loaded, expired;

    if (!server_fault_bring_up(scene))
        return false;
    side = fault_redis_open(scene);
    if (!side)
        return false;
    redis_side_info(side, "run_id", run_id, FAULT_ID_MAX);
    loaded = redis_side_info_number(side, "rdb_last_load_keys_loaded");
    expired = redis_side_info_number(side, "rdb_last_load_keys_expired");
    if (loaded < 0 || expired < 0)
        return server_fault_complain(
            scene, "it does not say how many keys it has loaded; that takes Redis 7");
    if (!fault_redis_forget(scene))
        return false;
    return loaded + expired == keys ||
           server_fault_complain(
               scene, "it came back with %" PRId64 " keys instead of %" PRId64,
               loaded + expired, keys);
}
