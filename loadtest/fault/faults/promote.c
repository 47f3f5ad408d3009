/* SPDX-License-Identifier: MIT */
/* promote.c -- an operator makes another server the master, while all of them work. */
#include "base/os/clock.h"
#include "loadtest/fault/leader.h"

static bool begin(struct fault_scene *scene)
{
    int64_t since_ns = dlock_clock_ns();
    char why[LAB_WHY_MAX];

    if (!fault_leader_is_it(scene))
        return false;
    if (!lab_topology_promote(scene->lab, fault_leader_topology(scene), why))
        return server_fault_complain(scene, "no other server is promoted: %s", why);
    server_fault_note(scene, "%s: it was to give its place up", scene->server->name);
    return fault_leader_await_other(scene, since_ns) && fault_leader_await_whole(scene);
}

const struct server_fault fault_promote = {
    .name = "promote",
    .does = "an operator makes another server the master: SENTINEL or CLUSTER FAILOVER",
    .needs = "a lab with --sentinel or --cluster",
    .servers = FAULT_ON(LAB_IS_REDIS),
    .topologies = LAB_WITH(SENTINEL) | LAB_WITH(CLUSTER),
    .breaks = {[LAB_IS_REDIS] = DLOCK_ASSUMES_STORE},
    .begin = begin,
};
