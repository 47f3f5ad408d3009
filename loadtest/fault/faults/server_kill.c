/* SPDX-License-Identifier: MIT */
/* server_kill.c -- a server is killed, and starts again with its data.
 *
 * PostgreSQL, ZooKeeper and etcd keep their data themselves.  A Redis server of the lab has
 * nothing on disk, so it saves everything just before the kill, and answers no write
 * after that. */
#include <inttypes.h>

#include "loadtest/fault/redis.h"

static bool begin(struct fault_scene *scene)
{
    struct redis_life *before = server_fault_state(scene, sizeof *before);
    struct lab_server *server = scene->server;
    int pid = (int)server->child.pid;

    if (lab_server_kind(server) == LAB_IS_REDIS) {
        if (!fault_redis_look(scene, before))
            return false;
        before->keys = fault_redis_save(scene);
        if (before->keys < 0)
            return false;
    }
    if (!server_fault_kill(scene))
        return false;
    if (lab_server_answers(scene->lab, server))
        return server_fault_complain(scene, "somebody answers on its port");
    server_fault_note(scene, "%s: process %d was killed, and 127.0.0.1:%d does not answer",
                      server->name, pid, server->port);
    return true;
}

static bool restart_redis(struct fault_scene *scene, const struct redis_life *before)
{
    char run_id[FAULT_ID_MAX];

    if (!fault_redis_start(scene, before->keys, run_id))
        return false;
    server_fault_note(scene, "%s: run_id %.8s.. -> %.8s.., all of its %" PRId64 " keys are back",
                      scene->server->name, before->run_id, run_id, before->keys);
    return true;
}

static bool end(struct fault_scene *scene)
{
    const struct redis_life *before = server_fault_state(scene, sizeof *before);

    if (!scene->is_down)
        return true;
    if (lab_server_kind(scene->server) == LAB_IS_REDIS)
        return restart_redis(scene, before);
    if (!server_fault_bring_up(scene))
        return false;
    server_fault_note(scene, "%s: process %d answers on its port", scene->server->name,
                      (int)scene->server->child.pid);
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
