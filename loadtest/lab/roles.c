/* SPDX-License-Identifier: MIT */
/* roles.c -- the purpose, the topology and the place of each server of a lab. */
#include <stdio.h>
#include <string.h>

#include "loadtest/lab/lab.h"

static const struct role {
    enum lab_topology topology;
    enum lab_kind kind;
    int count, peer_ports;
    const char *name;
} ROLES[] = {
#define ROLE(id, topology, kind, count, peer_ports, name)                                  \
    {LAB_TOPOLOGY_##topology, LAB_IS_##kind, count, peer_ports, name},
#include "loadtest/lab/roles.def"
#undef ROLE
};

int lab_role_count(enum lab_role role)
{
    return ROLES[role].count;
}

int lab_role_peer_ports(enum lab_role role)
{
    return ROLES[role].peer_ports;
}

enum lab_kind lab_role_kind(enum lab_role role)
{
    return ROLES[role].kind;
}

enum lab_topology lab_role_topology(enum lab_role role)
{
    return ROLES[role].topology;
}

enum lab_kind lab_server_kind(const struct lab_server *server)
{
    return ROLES[server->role].kind;
}

static int place_of(const struct lab *lab, enum lab_role role, int node)
{
    for (int i = 0; i < lab->server_count; i++)
        if (lab->servers[i].role == role && lab->servers[i].node == node)
            return i;
    return -1;
}

struct lab_server *lab_server(struct lab *lab, enum lab_role role, int node)
{
    int place = place_of(lab, role, node);

    return place < 0 ? NULL : &lab->servers[place];
}

int lab_port(const struct lab *lab, enum lab_role role, int node)
{
    int place = place_of(lab, role, node);

    return place < 0 ? 0 : lab->servers[place].port;
}

const char *lab_server_name(const struct lab *lab, enum lab_role role, int node)
{
    int place = place_of(lab, role, node);

    return place < 0 ? "" : lab->servers[place].name;
}

struct lab_server *lab_find_server(struct lab *lab, const char *name)
{
    for (int i = 0; i < lab->server_count; i++) {
        if (strcmp(lab->servers[i].name, name) == 0)
            return &lab->servers[i];
    }
    return NULL;
}

void lab_server_init(struct lab_server *server, enum lab_role role, int node)
{
    *server = (struct lab_server){.role = role, .node = node, .placeholder_fd = -1};
    for (int i = 0; i < LAB_PEER_PORT_MAX; i++)
        server->peer_placeholder_fds[i] = -1;
    snprintf(server->name, sizeof server->name, "%.*s", (int)strcspn(ROLES[role].name, "%"),
             ROLES[role].name);
    if (ROLES[role].count > 1)
        snprintf(server->name + strlen(server->name),
                 sizeof server->name - strlen(server->name), "%d", node + 1);
}

void lab_servers_add(struct lab *lab, enum lab_topology topology)
{
    for (unsigned role = 0; role < LAB_ROLE_COUNT; role++)
        for (int node = 0; ROLES[role].topology == topology && node < ROLES[role].count; node++)
            lab_server_init(&lab->servers[lab->server_count++], (enum lab_role)role, node);
}

struct lab_server *lab_server_add(struct lab *lab, const char *name)
{
    struct lab_server server;

    for (unsigned role = 0; role < LAB_ROLE_COUNT; role++) {
        for (int node = 0; node < ROLES[role].count; node++) {
            lab_server_init(&server, (enum lab_role)role, node);
            if (strcmp(server.name, name) != 0 || lab_find_server(lab, name) != NULL)
                continue;
            lab->servers[lab->server_count] = server;
            return &lab->servers[lab->server_count++];
        }
    }
    return NULL;
}

bool lab_servers_are_whole(const struct lab *lab)
{
    bool has_first[LAB_TOPOLOGY_COUNT] = {[LAB_TOPOLOGY_CORE] = true};

    for (int i = 0; i < lab->server_count; i++)
        has_first[ROLES[lab->servers[i].role].topology] = true;
    for (unsigned role = 0; role < LAB_ROLE_COUNT; role++)
        for (int node = 0; has_first[ROLES[role].topology] && node < ROLES[role].count; node++)
            if (place_of(lab, (enum lab_role)role, node) < 0)
                return false;
    return true;
}
