/* SPDX-License-Identifier: MIT */
/* etcd_members.c -- three members of an etcd that elect a leader. */
#include <string.h>

#include "loadtest/lab/kind.h"
#include "loadtest/lab/topology.h"

/* Every member leads or follows, and so one leads. */
static bool stands(const struct lab *lab, enum lab_role role, char why[LAB_WHY_MAX])
{
    char part[LAB_PART_MAX];
    bool has_leader = false;

    for (int i = 0; i < lab->server_count; i++) {
        const struct lab_server *server = &lab->servers[i];

        if (server->role != role)
            continue;
        lab_server_describe(lab, server, part);
        if (strcmp(part, "leader") != 0 && strcmp(part, "follower") != 0) {
            snprintf(why, LAB_WHY_MAX, "%s %s%s", server->name,
                     part[0] != '\0' ? "is " : "does not answer", part);
            return false;
        }
        has_leader = has_leader || part[0] == 'l';
    }
    snprintf(why, LAB_WHY_MAX, "no member is the leader");
    return has_leader;
}

/* Also while another member is away. */
static int leader(const struct lab *lab)
{
    char part[LAB_PART_MAX];

    for (int i = 0; i < lab->server_count; i++) {
        if (lab->servers[i].role != LAB_ETCD_MEMBER)
            continue;
        lab_server_describe(lab, &lab->servers[i], part);
        if (strcmp(part, "leader") == 0)
            return i;
    }
    return -1;
}

static void address(const struct lab *lab, char *out)
{
    int used = snprintf(out, LAB_ADDRESS_MAX, "http://");

    for (int i = 0; i < LAB_COUNT_ETCD_MEMBER; i++)
        used += snprintf(out + used, LAB_ADDRESS_MAX - (size_t)used, "%s127.0.0.1:%d",
                         i > 0 ? "," : "", lab_port(lab, LAB_ETCD_MEMBER, i));
}

const struct lab_topology_row lab_topology_etcd_members = {
    .stands = stands,
    .leader = leader,
    .role = LAB_ETCD_MEMBER,
    .variable = "SECKILL_LAB_ETCD_URL",
    .address = address,
};
