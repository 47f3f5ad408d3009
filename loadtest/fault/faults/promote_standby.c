/* SPDX-License-Identifier: MIT */
/* promote_standby.c -- the primary of PostgreSQL dies as in a loss of power, and its standby is
 * promoted.  Whether the standby has all that the primary answered is not looked at. */
#include <inttypes.h>

#include "base/os/clock.h"
#include "loadtest/fault/server_fault.h"
#include "loadtest/lab/standby.h"

static bool is_standby(const struct fault_scene *scene)
{
    enum db_role role;

    if (!lab_standby_role(scene->lab, scene->server, &role))
        return server_fault_complain(scene, "it does not answer");
    return role != DB_ROLE_PRIMARY ||
           server_fault_complain(scene, "it was promoted before\n"
                                        "  make a new lab: seckill lab down, seckill lab up "
                                        "--%s",
                                 lab_topology_flag(lab_role_topology(scene->server->role)));
}

static bool begin(struct fault_scene *scene)
{
    struct lab_server *primary = lab_server(scene->lab, LAB_POSTGRES, 0);
    int pid = (int)primary->child.pid;
    char why[LAB_WHY_MAX];
    int64_t since_ns;
    enum db_role role;

    if (!is_standby(scene))
        return false;
    if (!lab_server_kill(scene->lab, primary))
        return server_fault_complain(scene, "%s was killed and still runs", primary->name);
    since_ns = dlock_clock_ns();
    if (!lab_standby_promote(scene->lab, scene->server, why))
        return server_fault_complain(scene, "%s", why);
    if (!lab_standby_role(scene->lab, scene->server, &role) || role != DB_ROLE_PRIMARY)
        return server_fault_complain(scene, "it says that it is no primary");
    server_fault_note(scene,
                      "%s: process %d was killed; %s is the primary after %" PRId64 " ms",
                      primary->name, pid, scene->server->name,
                      (dlock_clock_ns() - since_ns) / DLOCK_NS_PER_MS);
    return true;
}

const struct server_fault fault_promote_standby = {
    .name = "promote-standby",
    .does = "the primary of PostgreSQL dies, and this standby is promoted for good",
    .needs = "a lab with --standby or --sync-standby",
    .servers = FAULT_ON(LAB_IS_POSTGRES),
    .topologies = LAB_WITH(STANDBY) | LAB_WITH(SYNCED),
    .breaks = {[LAB_IS_POSTGRES] = DLOCK_ASSUMES_STORE},
    .begin = begin,
};
