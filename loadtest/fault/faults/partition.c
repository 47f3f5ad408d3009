/* SPDX-License-Identifier: MIT */
/* partition.c -- a cut network: the master and the clients are on one side, the replicas and the
 * Sentinels are on the other side.
 *
 * Servers of a topology reach each other on their own ports, where no proxy stands.  But
 * replicas and Sentinels have a login of their own (LAB_PEER_USER): while the master refuses
 * that login and has closed its connections, none of them reaches the master, and every client
 * does.  When the fault is armed, the cut is there; it has begun when another master is named. */
#include "base/os/clock.h"
#include "loadtest/fault/leader.h"

struct partition {
    bool is_cut, was_cut;
    int64_t since_ns;
};

static bool arm(struct fault_scene *scene)
{
    struct partition *partition = server_fault_state(scene, sizeof *partition);
    const struct lab_server *master = scene->server;

    if (!fault_leader_is_it(scene))
        return false;
    partition->was_cut = partition->is_cut = true;
    partition->since_ns = dlock_clock_ns();
    return fault_leader_ask(scene, master, "ACL SETUSER " LAB_PEER_USER " off", "+OK",
                            "") &&
           fault_leader_ask(scene, master, "CLIENT KILL USER " LAB_PEER_USER, ":",
                            "") &&
           fault_leader_ask(scene, master, "INFO replication", "$",
                            "connected_slaves:0");
}

static bool begin(struct fault_scene *scene)
{
    const struct partition *partition = server_fault_state(scene, sizeof *partition);

    server_fault_note(scene, "%s: it refuses its replicas and Sentinels, and no client",
                      scene->server->name);
    if (!fault_leader_await_other(scene, partition->since_ns) ||
        !fault_leader_ask(scene, scene->server, "INFO replication", "$", "role:master"))
        return false;
    server_fault_note(scene, "; %s still calls itself master", scene->server->name);
    return true;
}

static bool end(struct fault_scene *scene)
{
    struct partition *partition = server_fault_state(scene, sizeof *partition);

    if (!partition->is_cut)
        return true;
    if (!fault_leader_ask(scene, scene->server, "ACL SETUSER " LAB_PEER_USER " on",
                          "+OK", ""))
        return false;
    partition->is_cut = false;
    server_fault_note(scene, "%s: it takes its replicas and Sentinels again",
                      scene->server->name);
    return true;
}

static bool disarm(struct fault_scene *scene)
{
    const struct partition *partition = server_fault_state(scene, sizeof *partition);

    return !partition->was_cut || (end(scene) && fault_leader_await_whole(scene));
}

const struct server_fault fault_partition = {
    .name = "partition",
    .does = "the master is cut off from its replicas and Sentinels, and serves clients",
    .needs = "a lab with --sentinel",
    .servers = FAULT_ON(LAB_IS_REDIS),
    .topologies = LAB_WITH(SENTINEL),
    .breaks = {[LAB_IS_REDIS] = DLOCK_ASSUMES_STORE},
    .arm = arm,
    .begin = begin,
    .end = end,
    .disarm = disarm,
};
