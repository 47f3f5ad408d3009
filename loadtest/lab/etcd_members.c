/* SPDX-License-Identifier: MIT */
/* etcd_members.c -- three members of an etcd that elect a leader. */
#include "loadtest/lab/topology.h"

/* Every member leads or follows, and so one leads. */
static bool stands(const struct lab *lab, enum lab_role role, char why[LAB_WHY_MAX])
{
    int leaders = lab_count_leaders(lab, role, why);

    if (leaders == 0)
        snprintf(why, LAB_WHY_MAX, "no member is the leader");
    return leaders > 0;
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
    .leader = lab_elected_leader,
    .role = LAB_ETCD_MEMBER,
    .variable = "SECKILL_LAB_ETCD_URL",
    .address = address,
};
