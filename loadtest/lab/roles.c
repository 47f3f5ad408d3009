/* SPDX-License-Identifier: MIT */
/* roles.c -- the purpose and the place of each server of a lab. */
#include <stdio.h>
#include <string.h>

#include "loadtest/lab/lab.h"

static const struct role {
    enum lab_kind kind;
    int count;
    const char *name;
} ROLES[] = {
#define ROLE(id, kind, count, name) {LAB_IS_##kind, count, name},
#include "loadtest/lab/roles.def"
#undef ROLE
};

static int place_of(enum lab_role role, int node)
{
    int place = node;

    for (unsigned before = 0; before < role; before++)
        place += ROLES[before].count;
    return place;
}

int lab_role_count(enum lab_role role)
{
    return ROLES[role].count;
}

struct lab_server *lab_server(struct lab *lab, enum lab_role role, int node)
{
    return &lab->servers[place_of(role, node)];
}

int lab_port(const struct lab *lab, enum lab_role role, int node)
{
    return lab->servers[place_of(role, node)].port;
}

const char *lab_server_name(const struct lab *lab, enum lab_role role, int node)
{
    return lab->servers[place_of(role, node)].name;
}

enum lab_kind lab_role_kind(enum lab_role role)
{
    return ROLES[role].kind;
}

enum lab_kind lab_server_kind(const struct lab_server *server)
{
    return ROLES[server->role].kind;
}

void lab_server_init(struct lab_server *server, enum lab_role role, int node)
{
    *server = (struct lab_server){.role = role, .placeholder_fd = -1};
    snprintf(server->name, sizeof server->name, "%.*s", (int)strcspn(ROLES[role].name, "%"),
             ROLES[role].name);
    if (ROLES[role].count > 1)
        snprintf(server->name + strlen(server->name),
                 sizeof server->name - strlen(server->name), "%d", node + 1);
}

void lab_servers_init(struct lab *lab, bool zookeeper)
{
    lab->server_count = 0;
    for (unsigned role = 0; role < LAB_ROLE_COUNT; role++)
        for (int node = 0; node < ROLES[role].count; node++)
            lab_server_init(&lab->servers[lab->server_count++], (enum lab_role)role, node);
    if (!zookeeper)
        lab->server_count -= ROLES[LAB_ZOOKEEPER].count;
}

bool lab_has_zookeeper(const struct lab *lab)
{
    return lab->server_count == LAB_SERVER_MAX;
}
