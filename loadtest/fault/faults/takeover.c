/* SPDX-License-Identifier: MIT */
/* takeover.c -- the leader of a Redis Cluster loses its replica when the fault is armed, and goes on
 * serving its clients.  When the fault begins, an operator makes this replica the master, without what
 * the old master has granted since. */
#include <string.h>

#include "base/os/clock.h"
#include "loadtest/fault/leader.h"

enum { ANSWER_MAX = 8192 };

struct takeover {
    const struct lab_server *replica;
    bool is_cut;
    int64_t since_ns;
};

static bool ask(struct fault_scene *scene, const struct lab_server *server, const char *command,
                const char *begins, char answer[ANSWER_MAX])
{
    if (!lab_redis_ask(scene->lab, server->port, command, answer, ANSWER_MAX))
        return server_fault_complain(scene, "%s does not answer", server->name);
    return strncmp(answer, begins, strlen(begins)) == 0 ||
           server_fault_complain(scene, "%s answers %.40s with %.*s", server->name, command,
                                 (int)strcspn(answer, "\r"), answer);
}

/* The replica of the scene's server; NULL: none answers. */
static const struct lab_server *find_replica(const struct fault_scene *scene)
{
    char answer[ANSWER_MAX], master[40];

    snprintf(master, sizeof master, "master_port:%d\r\n", scene->server->port);
    for (int i = 0; i < scene->lab->server_count; i++) {
        const struct lab_server *server = &scene->lab->servers[i];

        if (server->role == LAB_CLUSTER &&
            lab_redis_ask(scene->lab, server->port, "INFO replication", answer, ANSWER_MAX) &&
            strstr(answer, master) != NULL)
            return server;
    }
    return NULL;
}

/* The replica logs in with a wrong password from now on. */
static bool arm(struct fault_scene *scene)
{
    struct takeover *takeover = server_fault_state(scene, sizeof *takeover);
    char answer[ANSWER_MAX];

    if (!fault_leader_is_it(scene))
        return false;
    takeover->since_ns = dlock_clock_ns();
    takeover->replica = find_replica(scene);
    if (takeover->replica == NULL)
        return server_fault_complain(scene, "it has no replica");
    takeover->is_cut = true;
    return ask(scene, takeover->replica, "CONFIG SET masterauth wrong", "+OK", answer) &&
           ask(scene, scene->server, "CLIENT KILL TYPE replica", ":", answer) &&
           ask(scene, scene->server, "INFO replication", "$", answer) &&
           (strstr(answer, "connected_slaves:0\r\n") != NULL ||
            server_fault_complain(scene, "its replica is still connected"));
}

static bool begin(struct fault_scene *scene)
{
    struct takeover *takeover = server_fault_state(scene, sizeof *takeover);
    char answer[ANSWER_MAX];

    server_fault_note(scene, "%s: its replica %s copied nothing since, and takes over",
                      scene->server->name, takeover->replica->name);
    return ask(scene, takeover->replica, "CLUSTER FAILOVER TAKEOVER", "+OK", answer) &&
           fault_leader_await_other(scene, takeover->since_ns);
}

static bool end(struct fault_scene *scene)
{
    struct takeover *takeover = server_fault_state(scene, sizeof *takeover);
    char command[LAB_WHY_MAX], answer[ANSWER_MAX];

    if (!takeover->is_cut)
        return true;
    takeover->is_cut = false;
    snprintf(command, sizeof command, "CONFIG SET masterauth %s", scene->lab->redis_password);
    if (!ask(scene, takeover->replica, command, "+OK", answer))
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
