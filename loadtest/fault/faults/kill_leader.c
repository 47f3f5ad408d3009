/* SPDX-License-Identifier: MIT */
/* kill_leader.c -- the leader dies, another server is elected, and later the dead one starts
 * again with its data. */
#include "base/os/clock.h"
#include "loadtest/fault/leader.h"

static bool begin(struct fault_scene *scene)
{
    int pid = (int)scene->server->child.pid;
    int64_t since_ns = dlock_clock_ns();

    if (!fault_leader_is_it(scene) || !server_fault_kill(scene))
        return false;
    server_fault_note(scene, "%s: process %d was killed", scene->server->name, pid);
    return fault_leader_await_other(scene, since_ns);
}

static bool end(struct fault_scene *scene)
{
    if (!scene->is_down)
        return true;
    if (!server_fault_bring_up(scene))
        return false;
    server_fault_note(scene, "%s: process %d answers", scene->server->name,
                      (int)scene->server->child.pid);
    return fault_leader_await_whole(scene);
}

const struct server_fault fault_kill_leader = {
    .name = "kill-leader",
    .does = "the leader dies (SIGKILL), another is elected; later the dead one starts again",
    .needs = "a lab with --ensemble, --etcd or --cluster",
    .servers = FAULT_ON(LAB_IS_ZOOKEEPER) | FAULT_ON(LAB_IS_ETCD) | FAULT_ON(LAB_IS_REDIS),
    .topologies = LAB_WITH(ENSEMBLE) | LAB_WITH(ETCD) | LAB_WITH(CLUSTER),
    .breaks = {[LAB_IS_ZOOKEEPER] = DLOCK_ASSUMES_NETWORK,
               [LAB_IS_ETCD] = DLOCK_ASSUMES_NETWORK,
               [LAB_IS_REDIS] = DLOCK_ASSUMES_STORE},
    .begin = begin,
    .end = end,
    .disarm = end,
};
