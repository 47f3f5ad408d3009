/* SPDX-License-Identifier: MIT */
/* promote.c -- an operator makes another server the master, while all of them work. */
#include "base/os/clock.h"
#include "loadtest/fault/leader.h"

/* A replica gives a CLUSTER FAILOVER up after five seconds, for example because the other masters
 * have voted about the same master less than two node timeouts ago. */
enum { ASK_AGAIN_MS = 5500 };

/* The first answer counts, because the servers may refuse a second request while the first is
 * under way. */
static bool ask_until_other_leads(struct fault_scene *scene, int64_t since_ns)
{
    int64_t end_ns = dlock_clock_after(since_ns, FAULT_LEADER_OTHER_MS);
    char why[LAB_WHY_MAX];

    if (!lab_topology_promote(scene->lab, fault_leader_topology(scene), why))
        return server_fault_complain(scene, "no other server is promoted: %s", why);
    server_fault_note(scene, "%s: it was to give its place up", scene->server->name);
    while (dlock_clock_after(dlock_clock_ns(), ASK_AGAIN_MS) < end_ns) {
        if (fault_leader_other_comes(scene, since_ns, ASK_AGAIN_MS))
            return true;
        lab_topology_promote(scene->lab, fault_leader_topology(scene), why);
    }
    return fault_leader_await_other(scene, since_ns);
}

static bool begin(struct fault_scene *scene)
{
    return fault_leader_is_it(scene) && ask_until_other_leads(scene, dlock_clock_ns()) &&
           fault_leader_await_whole(scene);
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
