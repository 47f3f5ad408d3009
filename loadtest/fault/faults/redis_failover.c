/* SPDX-License-Identifier: MIT */
/* redis_failover.c -- the primary dies before its replica has the lock's key, and the
 * replica takes its place.
 *
 * When the fault is armed, there is a replica with all data of the primary, which is then
 * cut off: the replica follows a port on which no server listens.  The fault begins when
 * the primary has the lock's key, for which it waits ten seconds.  Then the primary is
 * killed, and the replica is promoted and takes over the primary's port, as a cluster
 * moves an address.  So the clients' URL leads to the replica, without a proxy in
 * between.  From then on the replica is the lab's server of that name. */
#include "loadtest/fault/replica.h"

struct failover {
    bool is_promoted;
    int replica_port; /* 0: the lab's spare server is none of ours */
    char run_id[FAULT_ID_MAX]; /* of the replica */
};

static bool arm(struct fault_scene *scene)
{
    struct failover *failover = server_fault_state(scene, sizeof *failover);

    if (!fault_replica_start(scene, failover->run_id))
        return false;
    failover->replica_port = scene->lab->spare.port;
    return true;
}

static bool begin(struct fault_scene *scene)
{
    struct failover *failover = server_fault_state(scene, sizeof *failover);
    struct child dead;

    if (!fault_replica_is_behind(scene))
        return false;
    if (!server_fault_kill(scene) || !fault_replica_promote(scene))
        return false;
    failover->is_promoted = true;
    if (!fault_replica_take_over(scene, failover->run_id, &dead))
        return false;
    server_fault_note(scene,
                      "%s: replica 127.0.0.1:%d, role:master now, had "
                      "master_link_status:down and does not have %s; it answers on "
                      "127.0.0.1:%d",
                      scene->server->name, failover->replica_port, scene->key,
                      scene->server->port);
    return true;
}

static bool disarm(struct fault_scene *scene)
{
    struct failover *failover = server_fault_state(scene, sizeof *failover);

    if (!failover->is_promoted && failover->replica_port != 0)
        lab_spare_end(scene->lab);
    return true;
}

const struct server_fault fault_redis_failover = {
    .name = "redis-failover",
    .does = "the master dies before it replicates the lock; the replica takes its place",
    .servers = FAULT_ON(LAB_IS_REDIS),
    .breaks = {[LAB_IS_REDIS] = DLOCK_ASSUMES_STORE},
    .needs_key = true,
    .taken_ms = FAULT_TAKEN_MS,
    .arm = arm,
    .begin = begin,
    .disarm = disarm,
};
