/* SPDX-License-Identifier: MIT */
/* eviction.c -- the memory of Redis is full, and Redis evicts the lock's key. */
#include "loadtest/scenario/scenario.h"

static void play(struct stage *s)
{
    struct actor *ann = stage_actor(s, 0), *bo = stage_actor(s, 1);

    stage_tell(s, "Ann takes the lock in the Redis that is also the cache.",
               "小安拿到锁，锁就放在兼做缓存的 Redis 里。");
    actor_enter(ann);
    actor_read(ann);
    stage_tell(s, "The cache grows until the memory is full.  Redis has to evict a key.",
               "缓存越来越大，内存满了，Redis 必须淘汰一个键。");
    stage_server_hurt(s, "eviction", stage_lock_server(s, 0), 0);
    stage_tell(s, "Redis evicts the lock: of the keys with a TTL, it expires first.  "
                  "Bo asks.",
               "被淘汰的是锁：有过期时间的键里，它最先到期。小博来申请。");
    actor_walk_in(bo, ann);
}

const struct scenario scenario_eviction = {
    .name = "eviction",
    .number = "S19",
    .title = "The cache evicts the lock",
    .title_zh = "缓存把锁淘汰了",
    .source = "the articles keep locks and cache in one Redis; Redis on eviction",
    .story = {"Locks and cache share one Redis, with a limit on its memory.",
              "When the memory is full, the eviction policy picks a key that has a TTL.",
              "A lock is such a key, and often the one that expires first.",
              "Redis evicts the lock while Ann works, and Bo gets it.",
              "Keep locks in a Redis of their own, with noeviction."},
    .story_zh = {"锁和缓存共用一个 Redis，内存有上限。",
                 "内存满了，淘汰策略挑带过期时间的键下手。",
                 "锁正是这样的键，往往还是最快到期的那个。",
                 "小安还在干活，锁就被淘汰了，小博拿到了锁。",
                 "锁要放在单独的 Redis 里，并设 noeviction。"},
    .breaks = SIGN_TWO_HOLDERS,
    .lease_ms = 20000,
    .needs_own_servers = true,
    .play = play,
};
