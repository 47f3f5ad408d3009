/* SPDX-License-Identifier: MIT */
/* eviction.c -- the memory of the server is full, and the server evicts the lock's key.
 *
 * The policy is volatile-ttl, which evicts keys with a time to live, those with the
 * shortest first: locks.  The filling keys have no time to live, so they stay.  Once the
 * lock's key is gone, the limit is lifted and the filling removed, so that the next lock
 * is not evicted as well. */
#include <inttypes.h>
#include <string.h>

#include "loadtest/fault/redis.h"

enum { FILL_BYTES = 64 * 1024, ROOM_BYTES = 1 << 20, FILLS_MAX = 400, WORD_MAX = 64 };

#define FILLER "seckill:fault:filler"

struct eviction {
    bool is_set;
    char limit[WORD_MAX], policy[WORD_MAX];
    int64_t evicted;
};

/* CONFIG GET answers a list of the name and the value, which is read from INFO. */
static bool remember(struct fault_scene *scene, struct eviction *eviction,
                     struct redis_side *side)
{
    eviction->evicted = redis_side_info_number(side, "evicted_keys");
    return (redis_side_info(side, "maxmemory", eviction->limit, WORD_MAX) &&
            redis_side_info(side, "maxmemory_policy", eviction->policy, WORD_MAX) &&
            eviction->evicted >= 0) ||
           fault_redis_complain(scene, side, "INFO");
}

static bool limit(struct fault_scene *scene, struct eviction *eviction,
                  struct redis_side *side)
{
    int64_t used = redis_side_info_number(side, "used_memory");

    if (used < 0)
        return fault_redis_complain(scene, side, "INFO");
    eviction->is_set = true;
    return (redis_side_ask(side, "CONFIG SET maxmemory-policy volatile-ttl") ==
                REDIS_SAID &&
            redis_side_ask(side, "CONFIG SET maxmemory %lld",
                           (long long)used + ROOM_BYTES) == REDIS_SAID) ||
           fault_redis_complain(scene, side, "CONFIG SET");
}

static bool has_end(struct fault_scene *scene, struct redis_side *side)
{
    if (redis_side_ask(side, "PTTL %s", scene->key) != REDIS_SAID)
        return fault_redis_complain(scene, side, "PTTL");
    return redis_side_number(side) != -1 ||
           server_fault_complain(scene, "%s has no end of its own, so it is not evicted",
                                 scene->key);
}

/* Until the server has evicted something and the key is gone. */
static bool fill(struct fault_scene *scene, struct eviction *eviction,
                 struct redis_side *side)
{
    static char block[FILL_BYTES];
    bool there = true;

    memset(block, '.', sizeof block);
    for (int i = 0; i < FILLS_MAX && there; i++) {
        if (redis_side_ask(side, "HSET " FILLER " %d %b", i, block, sizeof block) ==
            REDIS_SILENT)
            return fault_redis_complain(scene, side, "HSET");
        if (!redis_side_has(side, scene->key, &there))
            return fault_redis_complain(scene, side, "EXISTS");
    }
    eviction->evicted =
        redis_side_info_number(side, "evicted_keys") - eviction->evicted;
    if (there || eviction->evicted <= 0)
        return server_fault_complain(
            scene, there ? "%s was not evicted, though the memory is full"
                         : "%s is gone, but not evicted: its lease has ended",
            scene->key);
    return true;
}

static bool restore(struct fault_scene *scene)
{
    struct eviction *eviction = server_fault_state(scene, sizeof *eviction);
    struct redis_side *side;

    if (!eviction->is_set)
        return true;
    side = fault_redis_open(scene);
    if (!side)
        return false;
    if (redis_side_ask(side, "DEL " FILLER) != REDIS_SAID ||
        redis_side_ask(side, "CONFIG SET maxmemory %s", eviction->limit) !=
            REDIS_SAID ||
        redis_side_ask(side, "CONFIG SET maxmemory-policy %s", eviction->policy) !=
            REDIS_SAID)
        return fault_redis_complain(scene, side, "CONFIG SET");
    eviction->is_set = false;
    return true;
}

static bool begin(struct fault_scene *scene)
{
    struct eviction *eviction = server_fault_state(scene, sizeof *eviction);
    struct redis_side *side = fault_redis_open(scene);
    bool ok = side && fault_redis_needs_key(scene, side) && has_end(scene, side) &&
              remember(scene, eviction, side) && limit(scene, eviction, side) &&
              fill(scene, eviction, side);

    if (!restore(scene) || !ok)
        return false;
    server_fault_note(scene,
                      "%s: evicted_keys +%" PRId64 " under volatile-ttl, and %s is gone",
                      scene->server->name, eviction->evicted, scene->key);
    return true;
}

const struct server_fault fault_eviction = {
    .name = "eviction",
    .does = "the memory is full, and the server deletes the lock to make room",
    .servers = FAULT_ON(LAB_IS_REDIS),
    .breaks = {[LAB_IS_REDIS] = DLOCK_ASSUMES_STORE},
    .needs_key = true,
    .begin = begin,
    .disarm = restore,
};
