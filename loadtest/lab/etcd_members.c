/* SPDX-License-Identifier: MIT */
/* etcd_members.c -- three members of an etcd that elect a leader. */
#include <string.h>

#include "loadtest/lab/kind.h"
#include "loadtest/lab/topology.h"

/* One leader, whom all others follow. */
static bool stands(const struct lab *lab, enum lab_role role, char why[LAB_WHY_MAX])
{
    char part[LAB_PART_MAX];
    int leaders = 0;

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
        leaders += part[0] == 'l';
    }
    if (leaders == 1)
        return true;
    snprintf(why, LAB_WHY_MAX, "%d of the members are leaders", leaders);
    return false;
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
    .variable = "SECKILL_LAB_ETCD_URL",
    .address = address,
};
