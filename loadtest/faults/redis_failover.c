/* SPDX-License-Identifier: MIT */
/* redis_failover.c -- the master dies before its replica has heard of the lock, and the
 * replica takes its place.
 *
 * Armed, there is a replica with everything that the master had, which is then cut off:
 * it follows a port where nobody listens.  It begins when the master has the lock's key,
 * for which it waits ten seconds: the master is killed, and the replica is promoted and takes over the master's port, as
 * an address is moved in a cluster.  So the clients' URL leads to it, and nothing stands
 * in between.  Afterwards it is the lab's server of that name. */
#include <string.h>

#include "base/duration.h"
#include "loadtest/fault_redis.h"
#include "loadtest/interrupt.h"

enum { SYNC_MS = 10000, TAKEN_MS = 10000, POLL_MS = 2 };

struct failover {
    bool is_master_dead, is_promoted;
    int replica_port;
    char run_id[FAULT_ID_MAX]; /* of the replica */
};

/* The replica as if it were the scene's server. */
static struct redis_side *open_replica(const struct fault_scene *scene)
{
    return redis_side_open(scene->lab, &scene->lab->spare, REDIS_SIDE_MS);
}

static bool follow(const struct fault_scene *scene, struct redis_side *replica)
{
    char path[FILES_PATH_MAX];

    if (redis_side_ask(replica, "REPLICAOF 127.0.0.1 %d", scene->server->port) !=
        REDIS_SAID)
        return fault_redis_complain(scene, replica, "REPLICAOF");
    if (!redis_side_await(replica, "master_link_status", "up", SYNC_MS))
        return server_fault_complain(scene, "its replica has not caught up in %d s",
                                     SYNC_MS / 1000);
    lab_redis_data_path(scene->lab, &scene->lab->spare, path);
    files_remove_tree(path);
    return true;
}

static bool cut_off(const struct fault_scene *scene, struct redis_side *replica)
{
    if (redis_side_ask(replica, "REPLICAOF 127.0.0.1 1") != REDIS_SAID)
        return fault_redis_complain(scene, replica, "REPLICAOF");
    return redis_side_await(replica, "master_link_status", "down", SYNC_MS) ||
           server_fault_complain(scene, "its replica is not cut off");
}

/* Has the replica what must be unknown to it? */
static bool lacks_key(const struct fault_scene *scene, struct redis_side *replica)
{
    bool there;

    if (!redis_side_has(replica, scene->key, &there))
        return fault_redis_complain(scene, replica, "EXISTS");
    return !there || server_fault_complain(scene,
                                           "its replica has %s already\n"
                                           "  arm the fault before the lock is taken",
                                           scene->key);
}

static bool arm(struct fault_scene *scene)
{
    struct failover *failover = server_fault_state(scene, sizeof *failover);
    struct redis_side *replica;
    bool ok;

    if (scene->lab->spare.child.pid != 0)
        return server_fault_complain(scene, "another fault uses the lab's spare server\n"
                                            "  let it end first");
    if (!lab_spare_start(scene->lab, "replica"))
        return false;
    failover->replica_port = scene->lab->spare.port;
    replica = open_replica(scene);
    ok = follow(scene, replica) && cut_off(scene, replica) &&
         lacks_key(scene, replica) &&
         redis_side_info(replica, "run_id", failover->run_id, sizeof failover->run_id);
    redis_side_close(replica);
    if (ok)
        server_fault_note(scene, "replica 127.0.0.1:%d has followed %s and is cut off",
                          failover->replica_port, scene->server->name);
    return ok;
}

/* Somebody may just be about to take it. */
static bool await_key(const struct fault_scene *scene, struct redis_side *master)
{
    int64_t deadline_ns = monotonic_ns() + TAKEN_MS * 1000000LL;
    bool there = false;

    while (redis_side_has(master, scene->key, &there) && !there &&
           monotonic_ns() < deadline_ns && interrupt_sleep_ms(POLL_MS))
        ;
    return fault_redis_needs_key(scene, master);
}

/* The master has the key, and the replica neither that nor a way to learn of it. */
static bool is_behind(const struct fault_scene *scene, struct redis_side *replica)
{
    struct redis_side *master = fault_redis_open(scene);
    char link[32];
    bool ok = master && await_key(scene, master);

    redis_side_close(master);
    if (!ok || !lacks_key(scene, replica))
        return false;
    redis_side_info(replica, "master_link_status", link, sizeof link);
    return strcmp(link, "down") == 0 ||
           server_fault_complain(scene, "its replica is not cut off: the link is \"%s\"",
                                 link);
}

static bool promote(const struct fault_scene *scene, struct redis_side *replica)
{
    char role[32];

    if (redis_side_ask(replica, "REPLICAOF NO ONE") != REDIS_SAID)
        return fault_redis_complain(scene, replica, "REPLICAOF NO ONE");
    redis_side_info(replica, "role", role, sizeof role);
    if (strcmp(role, "master") != 0)
        return server_fault_complain(scene, "its replica stays a %s", role);
    if (!lacks_key(scene, replica))
        return false;
    return redis_side_ask(replica, "CONFIG SET port %d dbfilename %s.rdb",
                          scene->server->port, scene->server->name) == REDIS_SAID ||
           fault_redis_complain(scene, replica, "CONFIG SET port");
}

/* From now on it is the server of that name. */
static bool take_over(struct fault_scene *scene, struct failover *failover)
{
    struct redis_side *side;
    char run_id[FAULT_ID_MAX] = "";

    scene->server->child = scene->lab->spare.child;
    scene->lab->spare = (struct lab_server){.placeholder_fd = -1};
    failover->is_promoted = true;
    if (!lab_state_write(scene->lab))
        return false;
    side = fault_redis_open(scene);
    if (side)
        redis_side_info(side, "run_id", run_id, sizeof run_id);
    redis_side_close(side);
    return strcmp(run_id, failover->run_id) == 0 ||
           server_fault_complain(scene, "on 127.0.0.1:%d is not the replica",
                                 scene->server->port);
}

static bool begin(struct fault_scene *scene)
{
    struct failover *failover = server_fault_state(scene, sizeof *failover);
    struct redis_side *replica = open_replica(scene);
    bool ok = is_behind(scene, replica);

    failover->is_master_dead = ok;
    ok = ok && fault_redis_kill(scene) && promote(scene, replica);
    redis_side_close(replica);
    if (!ok || !take_over(scene, failover))
        return false;
    server_fault_note(scene,
                      "%s: replica 127.0.0.1:%d, role:master now, had "
                      "master_link_status:down and does not have %s; it answers on "
                      "127.0.0.1:%d",
                      scene->server->name, failover->replica_port, scene->key,
                      scene->server->port);
    return true;
}

static bool disarm(struct fault_scene *scene)
{
    struct failover *failover = server_fault_state(scene, sizeof *failover);

    if (failover->is_promoted)
        return true;
    if (failover->replica_port != 0)
        lab_spare_end(scene->lab);
    return !failover->is_master_dead || child_runs(&scene->server->child) ||
           (lab_server_start(scene->lab, scene->server) &&
            lab_server_wait(scene->lab, scene->server));
}

extern const struct server_fault fault_redis_failover;
const struct server_fault fault_redis_failover = {
    .name = "redis-failover",
    .does = "the master dies before it replicates the lock; the replica takes its place",
    .servers = FAULT_ON(LAB_IS_REDIS),
    .breaks = {[LAB_IS_REDIS] = DLOCK_ASSUMES_STORE},
    .needs_key = true,
    .arm = arm,
    .begin = begin,
    .disarm = disarm,
};
