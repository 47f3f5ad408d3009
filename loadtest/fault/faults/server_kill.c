/* SPDX-License-Identifier: MIT */
/* server_kill.c -- a server is killed, and starts again with its data.
 *
 * PostgreSQL, ZooKeeper and etcd keep their data themselves.  A Redis server of the lab has
 * nothing on disk, so it saves everything just before the kill, and answers no write
 * after that. */
#include <inttypes.h>

#include "loadtest/fault/redis.h"

struct kill {
    bool is_dead;
    int64_t keys;
    char run_id[FAULT_ID_MAX];
};

static bool save(struct fault_scene *scene, struct kill *kill)
{
    struct redis_side *side = fault_redis_open(scene);
    bool ok = side && fault_redis_needs_key(scene, side) &&
              redis_side_info(side, "run_id", kill->run_id, sizeof kill->run_id) &&
              fault_redis_save(scene, side);

    kill->keys = ok ? redis_side_keys(side) : -1;
    redis_side_close(side);
    return kill->keys >= 0;
}

static bool begin(struct fault_scene *scene)
{
    struct kill *kill = server_fault_state(scene, sizeof *kill);
    struct lab_server *server = scene->server;
    bool is_redis = lab_server_kind(server) == LAB_IS_REDIS;
    int pid = (int)server->child.pid;

    if (is_redis && !save(scene, kill))
        return false;
    kill->is_dead = true;
    if (!fault_redis_kill(scene))
        return false;
    if (lab_server_answers(scene->lab, server))
        return server_fault_complain(scene, "somebody answers on its port");
    server_fault_note(scene, "%s: process %d was killed, and 127.0.0.1:%d does not answer",
                      server->name, pid, server->port);
    return true;
}

static bool restart_redis(struct fault_scene *scene, const struct kill *kill)
{
    char run_id[FAULT_ID_MAX];
    int64_t keys;

    if (!fault_redis_start(scene, run_id, &keys))
        return false;
    if (keys != kill->keys)
        return server_fault_complain(scene,
                                     "it came back with %" PRId64 " keys instead of %" PRId64,
                                     keys, kill->keys);
    server_fault_note(scene, "%s: run_id %.8s.. -> %.8s.., all of its %" PRId64 " keys are back",
                      scene->server->name, kill->run_id, run_id, keys);
    return true;
}

static bool end(struct fault_scene *scene)
{
    struct kill *kill = server_fault_state(scene, sizeof *kill);

    if (!kill->is_dead)
        return true;
    if (lab_server_kind(scene->server) == LAB_IS_REDIS) {
        if (!restart_redis(scene, kill))
            return false;
    } else {
        if (!lab_server_bring_up(scene->lab, scene->server))
            return false;
        server_fault_note(scene, "%s: process %d answers on its port",
                          scene->server->name, (int)scene->server->child.pid);
    }
    kill->is_dead = false;
    return true;
}

const struct server_fault fault_server_kill = {
    .name = "server-kill",
    .does = "the server dies (SIGKILL), and later starts again with its data",
    .servers = FAULT_ON_ALL,
    .breaks = {[LAB_IS_POSTGRES] = DLOCK_ASSUMES_SESSION,
               [LAB_IS_REDIS] = DLOCK_ASSUMES_NETWORK,
               [LAB_IS_ZOOKEEPER] = DLOCK_ASSUMES_NETWORK,
               [LAB_IS_ETCD] = DLOCK_ASSUMES_NETWORK},
    .begin = begin,
    .end = end,
};
