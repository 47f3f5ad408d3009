/* SPDX-License-Identifier: MIT */
/* ensemble.c -- three ZooKeeper servers that elect a leader.
 *
 * A server of an ensemble answers `ruok` by `imok` also while it belongs to no quorum and
 * serves nobody; `srvr` tells its part. */
#include <errno.h>
#include <string.h>
#include <sys/stat.h>

#include "loadtest/lab/topology.h"

enum { TO_QUORUM, TO_ELECTION }; /* places of a server's peer ports */

/* Write the file of the data directory from which ZooKeeper reads the number of the server. */
static void write_number(const struct lab *lab, const struct lab_server *server)
{
    char path[FILES_PATH_MAX], number[16];

    files_path(path, "%s/%s", lab->data_root, server->name);
    snprintf(number, sizeof number, "%d\n", server->node + 1);
    if (mkdir(path, 0700) == 0 || errno == EEXIST) {
        files_path(path, "%s/%s/myid", lab->data_root, server->name);
        if (files_write(path, number))
            return;
    }
    eprintf("seckill: cannot write %s: %s\n", path, strerror(errno));
}

/* In ticks: 10 s to find a leader and copy its data, 2 s without hearing of it. */
static void configure(const struct lab *lab, const struct lab_server *server, FILE *out)
{
    write_number(lab, server);
    fputs("initLimit=50\nsyncLimit=10\n", out);
    for (int i = 0; i < lab->server_count; i++) {
        const struct lab_server *peer = &lab->servers[i];

        if (peer->role == LAB_ENSEMBLE)
            fprintf(out, "server.%d=127.0.0.1:%d:%d\n", peer->node + 1,
                    peer->peer_ports[TO_QUORUM], peer->peer_ports[TO_ELECTION]);
    }
}

/* One leader, whom all others follow. */
static bool stands(const struct lab *lab, enum lab_role role, char why[LAB_WHY_MAX])
{
    int leaders = lab_count_leaders(lab, role, why);

    if (leaders >= 0)
        snprintf(why, LAB_WHY_MAX, "%d of the servers are leaders", leaders);
    return leaders == 1;
}

const struct lab_topology_row lab_topology_ensemble = {
    .configure = configure,
    .stands = stands,
    .leader = lab_elected_leader,
    .role = LAB_ENSEMBLE,
    .takes_list = true,
    .variable = "SECKILL_LAB_ENSEMBLE_URL",
};
