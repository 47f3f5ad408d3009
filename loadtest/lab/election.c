/* SPDX-License-Identifier: MIT */
/* election.c -- the leader of a topology whose servers report their own parts. */
#include "loadtest/lab/topology.h"

#include <string.h>

int lab_count_leaders(const struct lab *lab, enum lab_role role, char why[LAB_WHY_MAX])
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
            return -1;
        }
        leaders += part[0] == 'l';
    }
    return leaders;
}

int lab_elected_leader(const struct lab *lab, enum lab_role role)
{
    char part[LAB_PART_MAX];

    for (int i = 0; i < lab->server_count; i++) {
        if (lab->servers[i].role != role)
            continue;
        lab_server_describe(lab, &lab->servers[i], part);
        if (strcmp(part, "leader") == 0)
            return i;
    }
    return -1;
}
