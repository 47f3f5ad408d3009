/* SPDX-License-Identifier: MIT */
/* topology.h -- how the servers of a topology are joined to one system: one row per topology. */
#ifndef LOADTEST_LAB_TOPOLOGY_H
#define LOADTEST_LAB_TOPOLOGY_H

#include <stdio.h>

#include "loadtest/lab/lab.h"

struct lab_topology_row {
    /* MAY.  The lines about its peers in a server's configuration, which the kind writes. */
    void (*configure)(const struct lab *lab, const struct lab_server *server, FILE *out);
    /* MAY.  Create the directory `data` of a server with its first data.  Called before a start
     * of a server without this directory, so not at a restart.  False: the reason is on stderr. */
    bool (*copy)(struct lab *lab, struct lab_server *server, const char *data);
    /* MAY.  Join the servers of a role to one system.  Called once, when all of them answer for
     * the first time.  False: the reason is on stderr. */
    bool (*join)(struct lab *lab, enum lab_role role);
    /* MAY.  Do the servers of that role work as one, with nobody missing?  False: why says
     * what is wrong.  A start waits until they do. */
    bool (*stands)(const struct lab *lab, enum lab_role role, char why[LAB_WHY_MAX]);
    /* MAY.  The server that decides for the others now, as they say themselves: the master
     * that most Sentinels name, the leader.  `role` is that of the row.  Its place in
     * lab->servers; -1: there is none. */
    int (*leader)(const struct lab *lab, enum lab_role role);
    /* MAY.  Ask for another leader, and do not wait for it.  False: why has the answer. */
    bool (*promote)(const struct lab *lab, char why[LAB_WHY_MAX]);
    /* The role of the servers that keep locks, in a topology with a leader or an address. */
    enum lab_role role;
    /* MAY.  The variable of the lab's environment with the address of the whole, and the
     * address, LAB_ADDRESS_MAX bytes; NULL: the URLs of the servers of `role`. */
    const char *variable;
    void (*address)(const struct lab *lab, char *out);
    /* The address is a list of the servers of `role`, so that a proxy can stand before each of
     * them; else the servers tell where they are. */
    bool takes_list;
    /* The servers of the topology start after the servers of the core answer. */
    bool is_late;
    /* A server may write its own configuration, so a restart leaves that as it is. */
    bool keeps_configuration;
};

#define TOPOLOGY(id, file, flag, adds) extern const struct lab_topology_row lab_topology_##file;
#include "loadtest/lab/topologies.def"
#undef TOPOLOGY

/* The row of a topology, and of the topology of a role.  The row of the core is empty. */
const struct lab_topology_row *lab_topology_row(enum lab_topology topology);
const struct lab_topology_row *lab_topology_of(enum lab_role role);

/* The number of servers of the role that say they lead.  -1: one neither leads nor
 * follows, and `why` says which. */
int lab_count_leaders(const struct lab *lab, enum lab_role role, char why[LAB_WHY_MAX]);

/* The place of the server of the role that says it leads, also while others are away.
 * -1: none says so. */
int lab_elected_leader(const struct lab *lab, enum lab_role role);
/* The place of the server of the role whose port more than half of the `voters` name.
 * -1: none has so many votes.  named_port() asks the voter on `port`; 0: no answer. */
int lab_named_leader(const struct lab *lab, enum lab_role role, enum lab_role voters,
                     int (*named_port)(const struct lab *lab, int port));

/* Write the address of a topology that has a `variable`. */
void lab_topology_write_address(const struct lab *lab,
                                const struct lab_topology_row *row,
                                char out[LAB_ADDRESS_MAX]);

/* Print the servers of the topologies on stderr: "a Redis master, two ...; and ZooKeeper". */
void lab_topologies_print(lab_topologies set);

#endif /* LOADTEST_LAB_TOPOLOGY_H */
