/* SPDX-License-Identifier: MIT */
/* cluster.c -- a Redis Cluster of three masters, each with a third of the slots and a replica.
 *
 * Each node keeps what it knows of the others in a file of its own, so a node that starts again is
 * a part of the cluster as before. */
#include <stdlib.h>
#include <string.h>

#include "base/os/clock.h"
#include "base/redis/slot.h"
#include "loadtest/kit/interrupt.h"
#include "loadtest/lab/topology.h"

enum {
    ANSWER_MAX = 8192,
    NODE_TIMEOUT_MS = 2000,
    MASTERS = LAB_COUNT_CLUSTER / 2, /* node i + MASTERS begins as the replica of node i */
    AGAIN_MS = 20,
};

static void configure(const struct lab *lab, const struct lab_server *server, FILE *out)
{
    (void)lab;
    fprintf(out,
            "cluster-enabled yes\n"
            "cluster-port %d\n"
            "cluster-node-timeout %d\n"
            "cluster-config-file \"%s.nodes\"\n",
            server->peer_ports[0], NODE_TIMEOUT_MS, server->name);
}

/* Ask node `i`.  False: no answer, or an error; stderr says which. */
static bool ask(const struct lab *lab, int i, const char *question, char answer[ANSWER_MAX])
{
    if (!lab_redis_ask(lab, lab_port(lab, LAB_CLUSTER, i), question, answer, ANSWER_MAX)) {
        eprintf("seckill: %s does not answer\n", lab_server_name(lab, LAB_CLUSTER, i));
        return false;
    }
    if (answer[0] != '-')
        return true;
    eprintf("seckill: %s says to %.40s: %.*s\n", lab_server_name(lab, LAB_CLUSTER, i),
            question, (int)strcspn(answer, "\r"), answer + 1);
    return false;
}

static bool give_slots(const struct lab *lab, int master)
{
    char question[80], answer[ANSWER_MAX];
    int first = REDIS_SLOT_COUNT * master / MASTERS;
    int next = REDIS_SLOT_COUNT * (master + 1) / MASTERS;

    snprintf(question, sizeof question, "CLUSTER ADDSLOTSRANGE %d %d", first, next - 1);
    if (!ask(lab, master, question, answer))
        return false;
    snprintf(question, sizeof question, "CLUSTER SET-CONFIG-EPOCH %d", master + 1);
    return ask(lab, master, question, answer);
}

static bool introduce(const struct lab *lab, int node)
{
    const struct lab_server *first = &lab->servers[0];
    char question[80], answer[ANSWER_MAX];

    while (first->role != LAB_CLUSTER)
        first++;
    snprintf(question, sizeof question, "CLUSTER MEET 127.0.0.1 %d %d", first->port,
             first->peer_ports[0]);
    return ask(lab, node, question, answer);
}

/* Make the node a replica as soon as it has heard of its master. */
static bool make_replica(const struct lab *lab, int node)
{
    int64_t until_ns = dlock_clock_after(dlock_clock_ns(), LAB_READY_MS);
    char question[80], answer[ANSWER_MAX];
    const char *id;

    if (!ask(lab, node - MASTERS, "CLUSTER MYID", answer))
        return false;
    id = strstr(answer, "\r\n"); /* behind the length */
    if (!id)
        return false;
    snprintf(question, sizeof question, "CLUSTER REPLICATE %.40s", id + 2);
    for (;;) {
        if (!lab_redis_ask(lab, lab_port(lab, LAB_CLUSTER, node), question, answer, ANSWER_MAX))
            return false;
        if (answer[0] != '-')
            return true;
        if (interrupted() || dlock_clock_ns() >= until_ns)
            break;
        dlock_clock_sleep_until(dlock_clock_after(dlock_clock_ns(), AGAIN_MS));
    }
    eprintf("seckill: %s becomes no replica: %.*s\n",
            lab_server_name(lab, LAB_CLUSTER, node), (int)strcspn(answer, "\r"), answer + 1);
    return false;
}

static bool join(struct lab *lab, enum lab_role role)
{
    (void)role;
    for (int i = 0; i < MASTERS; i++)
        if (!give_slots(lab, i))
            return false;
    for (int i = 1; i < LAB_COUNT_CLUSTER; i++)
        if (!introduce(lab, i))
            return false;
    for (int i = MASTERS; i < LAB_COUNT_CLUSTER; i++)
        if (!make_replica(lab, i))
            return false;
    return true;
}

/* Every node knows all others, has a say in all slots, and, as a replica, the copy
 * of its master. */
static bool stands(const struct lab *lab, enum lab_role role, char why[LAB_WHY_MAX])
{
    char answer[ANSWER_MAX], known[40];

    snprintf(known, sizeof known, "cluster_known_nodes:%d\r\n", LAB_COUNT_CLUSTER);
    for (int i = 0; i < LAB_COUNT_CLUSTER; i++) {
        const char *name = lab_server_name(lab, role, i);
        int port = lab_port(lab, role, i);

        if (!lab_redis_ask(lab, port, "CLUSTER INFO", answer, sizeof answer)) {
            snprintf(why, LAB_WHY_MAX, "%s does not answer", name);
            return false;
        }
        if (!strstr(answer, "cluster_state:ok") || !strstr(answer, known)) {
            snprintf(why, LAB_WHY_MAX, "%s does not know all slots and nodes", name);
            return false;
        }
        if (!lab_redis_ask(lab, port, "INFO replication", answer, sizeof answer) ||
            (!strstr(answer, "role:master") && !strstr(answer, "master_link_status:up"))) {
            snprintf(why, LAB_WHY_MAX, "%s is not connected to its master", name);
            return false;
        }
    }
    return true;
}

/* The port of the node that has the slot of LAB_CLUSTER_KEY, as the node on `port` says; 0: it does
 * not say.  A node redirects from all slots but its own. */
static int named_port(const struct lab *lab, int port)
{
    char answer[ANSWER_MAX];
    const char *colon;

    if (!lab_redis_ask(lab, port, "GET " LAB_CLUSTER_KEY, answer, sizeof answer))
        return 0;
    if (strncmp(answer, "-MOVED ", 7) != 0)
        return answer[0] == '$' ? port : 0;
    colon = strrchr(answer, ':');
    return colon ? (int)strtol(colon + 1, NULL, 10) : 0;
}

/* The node that more than half of all name. */
static int leader(const struct lab *lab, enum lab_role role)
{
    return lab_named_leader(lab, role, role, named_port);
}

/* Ask the replica of the leader to take its place. */
static bool promote(const struct lab *lab, char why[LAB_WHY_MAX])
{
    int place = leader(lab, LAB_CLUSTER);
    char answer[ANSWER_MAX], master[40];

    snprintf(why, LAB_WHY_MAX, "no connected replica of the leader answers");
    snprintf(master, sizeof master, "master_port:%d\r\nmaster_link_status:up",
             place >= 0 ? lab->servers[place].port : 0);
    for (int i = 0; i < LAB_COUNT_CLUSTER; i++) {
        int port = lab_port(lab, LAB_CLUSTER, i);

        if (!lab_redis_ask(lab, port, "INFO replication", answer, sizeof answer) ||
            strstr(answer, master) == NULL ||
            !lab_redis_ask(lab, port, "CLUSTER FAILOVER", answer, sizeof answer))
            continue;
        if (strncmp(answer, "+OK", 3) == 0)
            return true;
        snprintf(why, LAB_WHY_MAX, "%s says: %.*s", lab_server_name(lab, LAB_CLUSTER, i),
                 (int)strcspn(answer, "\r"), answer);
    }
    return false;
}

static void address(const struct lab *lab, char *out)
{
    int used = snprintf(out, LAB_ADDRESS_MAX, "redis-cluster://:%s@", lab->redis_password);

    for (int i = 0; i < LAB_COUNT_CLUSTER; i++)
        used += snprintf(out + used, LAB_ADDRESS_MAX - (size_t)used, "%s127.0.0.1:%d",
                         i > 0 ? "," : "", lab_port(lab, LAB_CLUSTER, i));
}

const struct lab_topology_row lab_topology_cluster = {
    .configure = configure,
    .join = join,
    .stands = stands,
    .leader = leader,
    .promote = promote,
    .role = LAB_CLUSTER,
    .variable = "SECKILL_LAB_CLUSTER_URL",
    .address = address,
    .keeps_configuration = true,
};
