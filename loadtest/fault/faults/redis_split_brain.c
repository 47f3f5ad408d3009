/* SPDX-License-Identifier: MIT */
/* redis_split_brain.c -- the primary is cut off together with its connected clients, and
 * goes on; for all others its replica takes its place.
 *
 * When the fault is armed, there is a replica as in redis_failover.c.  The fault begins
 * when the primary has the lock's key: the primary stops listening and serves only its
 * open connections; the replica is promoted and listens on the primary's port.  So a new
 * connection reaches the promoted replica, an open connection the old primary, and both
 * act as primary.  The fault ends when the old primary becomes a replica of the new one,
 * and loses the locks that it has granted since. */
#include <signal.h>
#include <string.h>

#include "loadtest/fault/replica.h"

enum { HEAL_MS = 10000, END_MS = 2000 };

struct split {
    bool has_replica; /* the lab's spare server, until is_split */
    bool is_split;
    char run_id[FAULT_ID_MAX];
    struct redis_side *old_side; /* to the old master, which listens no more */
    struct child old_master;
};

static bool arm(struct fault_scene *scene)
{
    struct split *split = server_fault_state(scene, sizeof *split);

    split->has_replica = fault_replica_start(scene, split->run_id);
    return split->has_replica;
}

/* Whether the server is a primary, with the lock's key or without. */
static bool is_master(const struct fault_scene *scene, struct redis_side *side,
                      bool has_key)
{
    char role[32] = "";
    bool there;

    redis_side_info(side, "role", role, sizeof role);
    if (strcmp(role, "master") != 0)
        return server_fault_complain(scene, "one of the two masters is a \"%s\"", role);
    if (!redis_side_has(side, scene->key, &there))
        return fault_redis_complain(scene, side, "EXISTS");
    return there == has_key ||
           server_fault_complain(scene, "%s is%s known to a master", scene->key,
                                 there ? "" : " not");
}

static bool begin(struct fault_scene *scene)
{
    struct split *split = server_fault_state(scene, sizeof *split);
    struct redis_side *side;
    bool ok;

    if (!fault_replica_is_behind(scene))
        return false;
    split->old_side = fault_redis_open(scene);
    scene->side = NULL;
    if (!split->old_side)
        return false;
    if (redis_side_ask(split->old_side, "CONFIG SET port 0") != REDIS_SAID)
        return fault_redis_complain(scene, split->old_side, "CONFIG SET port");
    if (!fault_replica_promote(scene))
        return false;
    split->is_split = true;
    if (!fault_replica_take_over(scene, split->run_id, &split->old_master))
        return false;
    side = fault_redis_open(scene);
    ok = side && is_master(scene, split->old_side, true) &&
         is_master(scene, side, false);
    if (ok)
        server_fault_note(scene,
                          "%s: processes %d and %d both say role:master; the first "
                          "has %s, the second listens on 127.0.0.1:%d",
                          scene->server->name, (int)split->old_master.pid,
                          (int)scene->server->child.pid, scene->key,
                          scene->server->port);
    return ok;
}

static bool end(struct fault_scene *scene)
{
    struct split *split = server_fault_state(scene, sizeof *split);

    if (!split->is_split)
        return true;
    if (redis_side_ask(split->old_side, "REPLICAOF 127.0.0.1 %d", scene->server->port) !=
        REDIS_SAID)
        return fault_redis_complain(scene, split->old_side, "REPLICAOF");
    if (!redis_side_await(split->old_side, "master_link_status", "up", HEAL_MS))
        return server_fault_complain(scene, "its old master does not follow it");
    if (!fault_redis_forget(scene)) /* the file by which it got the data of its new master */
        return false;
    server_fault_note(scene,
                      "%s: process %d is a replica of process %d now, and has its data",
                      scene->server->name, (int)split->old_master.pid,
                      (int)scene->server->child.pid);
    return true;
}

static bool disarm(struct fault_scene *scene)
{
    struct split *split = server_fault_state(scene, sizeof *split);

    if (split->is_split)
        child_end(&split->old_master, SIGKILL, END_MS);
    else if (split->has_replica)
        lab_spare_end(scene->lab);
    if (split->old_side && !split->is_split)
        redis_side_ask(split->old_side, "CONFIG SET port %d", scene->server->port);
    redis_side_close(split->old_side);
    split->old_side = NULL;
    return lab_server_answers(scene->lab, scene->server) ||
           server_fault_complain(scene, "it does not answer\n"
                                        "  restart it: seckill lab restart %s",
                                 scene->server->name);
}

const struct server_fault fault_redis_split_brain = {
    .name = "redis-split-brain",
    .does = "the replica is made master, and the old master stays a master too",
    .needs = "a client that stays connected to the old master",
    .servers = FAULT_ON(LAB_IS_REDIS),
    .breaks = {[LAB_IS_REDIS] = DLOCK_ASSUMES_STORE},
    .needs_key = true,
    .taken_ms = FAULT_TAKEN_MS,
    .arm = arm,
    .begin = begin,
    .end = end,
    .disarm = disarm,
};
