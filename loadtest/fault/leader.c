/* SPDX-License-Identifier: MIT */
/* leader.c -- waits for another leader of a topology, and for the topology to stand. */
#include "loadtest/fault/leader.h"

#include <inttypes.h>
#include <string.h>

#include "base/os/clock.h"
#include "loadtest/kit/interrupt.h"

enum { POLL_MS = 10, WHOLE_MS = 40000, ANSWER_MAX = 8192 };

enum lab_topology fault_leader_topology(const struct fault_scene *scene)
{
    return lab_role_topology(scene->server->role);
}

bool fault_leader_is_it(const struct fault_scene *scene)
{
    const struct lab_server *leader =
        lab_topology_leader(scene->lab, fault_leader_topology(scene));

    return leader == scene->server ||
           server_fault_complain(scene, "it is not the leader now; %s is",
                                 leader != NULL ? leader->name : "no server");
}

bool fault_leader_ask(const struct fault_scene *scene, const struct lab_server *server,
                      const char *command, const char *begins, const char *text)
{
    char answer[ANSWER_MAX];

    if (!lab_redis_ask(scene->lab, server->port, command, answer, sizeof answer))
        return server_fault_complain(scene, "%s does not answer %.40s", server->name,
                                     command);
    if (strncmp(answer, begins, strlen(begins)) != 0)
        return server_fault_complain(scene, "%s answers %.40s with %.*s", server->name,
                                     command, (int)strcspn(answer, "\r"), answer);
    return strstr(answer, text) != NULL ||
           server_fault_complain(scene, "%s answers %.40s without %s", server->name,
                                 command, text);
}

const struct lab_server *fault_leader_find(const struct fault_scene *scene,
                                           const char *text)
{
    char answer[ANSWER_MAX];

    for (int i = 0; i < scene->lab->server_count; i++) {
        const struct lab_server *server = &scene->lab->servers[i];

        if (server->role == LAB_CLUSTER && server != scene->server &&
            lab_redis_ask(scene->lab, server->port, "INFO replication", answer,
                          sizeof answer) &&
            strstr(answer, text) != NULL)
            return server;
    }
    return NULL;
}

bool fault_leader_other_comes(struct fault_scene *scene, int64_t since_ns, int64_t limit_ms)
{
    int64_t end_ns = dlock_clock_after(dlock_clock_ns(), limit_ms);
    const struct lab_server *leader;

    do {
        leader = lab_topology_leader(scene->lab, fault_leader_topology(scene));
        if (leader != NULL && leader != scene->server) {
            server_fault_note(scene, "; %s takes its place after %" PRId64 " ms", leader->name,
                              (dlock_clock_ns() - since_ns) / DLOCK_NS_PER_MS);
            return true;
        }
    } while (dlock_clock_ns() < end_ns && interrupt_sleep_ms(POLL_MS));
    return false;
}

bool fault_leader_await_other(struct fault_scene *scene, int64_t since_ns)
{
    if (fault_leader_other_comes(scene, since_ns, FAULT_LEADER_OTHER_MS))
        return true;
    if (interrupted())
        return server_fault_complain(scene, "the program is to end before another server took its "
                                     "place");
    return server_fault_complain(scene, "no other server took its place within %d s",
                                 FAULT_LEADER_OTHER_MS / 1000);
}

bool fault_leader_await_whole(struct fault_scene *scene)
{
    int64_t end_ns = dlock_clock_after(dlock_clock_ns(), WHOLE_MS);
    char why[LAB_WHY_MAX];

    while (!lab_topology_stands(scene->lab, fault_leader_topology(scene), why)) {
        if (dlock_clock_ns() >= end_ns || !interrupt_sleep_ms(POLL_MS))
            return server_fault_complain(scene, "its topology is not whole again: %s", why);
    }
    server_fault_note(scene, "; all servers of --%s work as one",
                      lab_topology_flag(fault_leader_topology(scene)));
    return true;
}
