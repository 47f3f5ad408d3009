/* SPDX-License-Identifier: MIT */
/* takeover.c -- the leader of a Redis Cluster loses its replica when the fault is armed, and goes
 * on serving its clients.  When the fault begins, an operator makes this replica the master,
 * without what the old master has granted since. */
#include "base/os/clock.h"
#include "loadtest/fault/leader.h"

struct takeover {
    const struct lab_server *replica;
    bool is_cut;
    int64_t since_ns;
};

/* The replica logs in with a wrong password from now on. */
static bool arm(struct fault_scene *scene)
{
    struct takeover *takeover = server_fault_state(scene, sizeof *takeover);
    char master[40];

    if (!fault_leader_is_it(scene))
        return false;
    takeover->since_ns = dlock_clock_ns();
    snprintf(master, sizeof master, "master_port:%d\r\n", scene->server->port);
    takeover->replica = fault_leader_find(scene, master);
    if (takeover->replica == NULL)
        return server_fault_complain(scene, "it has no replica");
    takeover->is_cut = true;
    return fault_leader_ask(scene, takeover->replica, "CONFIG SET masterauth wrong",
                            "+OK", "") &&
           fault_leader_ask(scene, scene->server, "CLIENT KILL TYPE replica", ":",
                            "") &&
           fault_leader_ask(scene, scene->server, "INFO replication", "$",
                            "connected_slaves:0");
}

static bool begin(struct fault_scene *scene)
{
    struct takeover *takeover = server_fault_state(scene, sizeof *takeover);

    server_fault_note(scene, "%s: its replica %s copied nothing since, and takes over",
                      scene->server->name, takeover->replica->name);
    return fault_leader_ask(scene, takeover->replica, "CLUSTER FAILOVER TAKEOVER",
                            "+OK", "") &&
           fault_leader_await_other(scene, takeover->since_ns);
}

static bool end(struct fault_scene *scene)
{
    struct takeover *takeover = server_fault_state(scene, sizeof *takeover);
    char command[LAB_WHY_MAX];

    if (!takeover->is_cut)
        return true;
    takeover->is_cut = false;
    snprintf(command, sizeof command, "CONFIG SET masterauth %s", scene->lab->redis_password);
    if (!fault_leader_ask(scene, takeover->replica, command, "+OK", ""))
        return false;
    server_fault_note(scene, "%s: it has its password again", takeover->replica->name);
    return fault_leader_await_whole(scene);
}

const struct server_fault fault_takeover = {
    .name = "takeover",
    .does = "a replica that lacks the last writes is made master: CLUSTER FAILOVER TAKEOVER",
    .needs = "a lab with --cluster",
    .servers = FAULT_ON(LAB_IS_REDIS),
    .topologies = LAB_WITH(CLUSTER),
    .breaks = {[LAB_IS_REDIS] = DLOCK_ASSUMES_STORE},
    .arm = arm,
    .begin = begin,
    .end = end,
    .disarm = end,
};
