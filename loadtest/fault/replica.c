/* SPDX-License-Identifier: MIT */
/* replica.c -- from a replica to the next master. */
#include "loadtest/fault/replica.h"

#include <string.h>

#include "base/text/duration.h"
#include "loadtest/kit/interrupt.h"

enum { SYNC_MS = 10000, BETWEEN_MS = 5000, LEASE_MAX_MS = 60000, MARGIN_MS = 1000, POLL_MS = 2 };

/* Connect to the replica, in place of the scene's server. */
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

/* Whether the replica is proved not to have the key. */
static bool lacks_key(const struct fault_scene *scene, struct redis_side *replica)
{
    bool there;

    if (!redis_side_has(replica, scene->key, &there))
        return fault_redis_complain(scene, replica, "EXISTS");
    return !there || server_fault_complain(scene,
                                           "its replica has %s already\n"
                                           "  free the lock, and take the lock when the "
                                           "fault is armed",
                                           scene->key);
}

/* Let the replica's copy of the key run out: a holder that works on renews only what the master
 * has.  A key without a time to live, or with one of more than LEASE_MAX_MS, stays. */
static void outlast(const struct fault_scene *scene, struct redis_side *replica)
{
    int64_t deadline_ns, left_ms;
    bool there = true;

    if (redis_side_ask(replica, "PTTL %s", scene->key) != REDIS_SAID)
        return;
    left_ms = redis_side_number(replica);
    deadline_ns = monotonic_ns() + (left_ms + MARGIN_MS) * INT64_C(1000000);
    while (left_ms >= 0 && left_ms <= LEASE_MAX_MS &&
           redis_side_has(replica, scene->key, &there) && there && monotonic_ns() < deadline_ns &&
           interrupt_sleep_ms(POLL_MS))
        ;
}

/* Under load the lock is nearly always held: the replica is cut off between two holders, which
 * may take some tries.  While one holder works slowly there is no such moment. */
static bool cut_off_between(const struct fault_scene *scene, struct redis_side *replica)
{
    int64_t deadline_ns = monotonic_ns() + BETWEEN_MS * 1000000LL;
    bool there = true;

    do {
        if (!follow(scene, replica))
            return false;
        while (redis_side_has(replica, scene->key, &there) && there &&
               monotonic_ns() < deadline_ns && !interrupted())
            ;
        if (!cut_off(scene, replica))
            return false;
    } while (redis_side_has(replica, scene->key, &there) && there &&
             monotonic_ns() < deadline_ns && !interrupted());
    if (there)
        outlast(scene, replica);
    return lacks_key(scene, replica);
}

bool fault_replica_start(struct fault_scene *scene, char run_id[FAULT_ID_MAX])
{
    struct redis_side *replica;
    bool ok;

    if (scene->lab->spare.child.pid != 0)
        return server_fault_complain(scene, "another fault uses the lab's spare server\n"
                                            "  let it end first");
    if (!lab_spare_start(scene->lab, "replica", scene->server))
        return false;
    replica = open_replica(scene);
    ok = cut_off_between(scene, replica) &&
         redis_side_info(replica, "run_id", run_id, FAULT_ID_MAX);
    redis_side_close(replica);
    if (!ok) {
        lab_spare_end(scene->lab);
        return false;
    }
    server_fault_note(scene, "replica 127.0.0.1:%d has followed %s and is cut off",
                      scene->lab->spare.port, scene->server->name);
    return true;
}

/* Wait until the master has the key: another process may be about to take the lock. */
static bool await_key(const struct fault_scene *scene, struct redis_side *master)
{
    int64_t deadline_ns = monotonic_ns() + FAULT_TAKEN_MS * 1000000LL;
    bool there = false, answers;

    /* A second question could find the lock free again. */
    while ((answers = redis_side_has(master, scene->key, &there)) && !there &&
           monotonic_ns() < deadline_ns && interrupt_sleep_ms(POLL_MS))
        ;
    if (!answers)
        return fault_redis_complain(scene, master, "EXISTS");
    return there || server_fault_complain(scene,
                                          "no client took %s within %d s after the fault was "
                                          "armed, so there is nothing to lose\n"
                                          "  start the fault again, and take the lock when the "
                                          "fault is armed",
                                          scene->key, FAULT_TAKEN_MS / 1000);
}

bool fault_replica_is_behind(struct fault_scene *scene)
{
    struct redis_side *master = fault_redis_open(scene), *replica = open_replica(scene);
    char link[32] = "";
    bool ok = master && await_key(scene, master) && lacks_key(scene, replica);

    if (ok) {
        redis_side_info(replica, "master_link_status", link, sizeof link);
        ok = strcmp(link, "down") == 0 ||
             server_fault_complain(
                 scene, "its replica is not cut off: the link is \"%s\"", link);
    }
    redis_side_close(replica);
    return ok;
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

bool fault_replica_promote(const struct fault_scene *scene)
{
    struct redis_side *replica = open_replica(scene);
    bool ok = promote(scene, replica);

    redis_side_close(replica);
    return ok;
}

bool fault_replica_take_over(struct fault_scene *scene, const char *run_id,
                             struct child *before)
{
    struct redis_side *side;
    char found[FAULT_ID_MAX] = "";

    *before = scene->server->child;
    scene->server->child = scene->lab->spare.child;
    scene->lab->spare = (struct lab_server){.placeholder_fd = -1};
    if (!lab_state_write(scene->lab))
        return false;
    side = fault_redis_open(scene);
    if (side)
        redis_side_info(side, "run_id", found, sizeof found);
    return strcmp(found, run_id) == 0 ||
           server_fault_complain(scene, "on 127.0.0.1:%d is not the replica",
                                 scene->server->port);
}
