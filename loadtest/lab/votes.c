/* SPDX-License-Identifier: MIT */
/* votes.c -- the leader of a topology in which voters name the leader. */
#include "loadtest/lab/topology.h"

int lab_named_leader(const struct lab *lab, enum lab_role role, enum lab_role voters,
                     int (*named_port)(const struct lab *lab, int port))
{
    int named[LAB_SERVER_MAX] = {0}, count = lab_role_count(voters);

    for (int i = 0; i < count; i++) {
        int port = named_port(lab, lab_port(lab, voters, i));

        for (int j = 0; port != 0 && j < lab->server_count; j++)
            if (lab->servers[j].role == role && lab->servers[j].port == port &&
                ++named[j] > count / 2)
                return j;
    }
    return -1;
}
