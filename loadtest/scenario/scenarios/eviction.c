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
    stage_tell(s, "The cache grows until the memory is full.  Something has to go.",
               "缓存越来越大，内存满了，总得丢点什么。");
    stage_server_hurt(s, "eviction", stage_lock_server(s, 0), 0);
    stage_tell(s, "The lock went: of the keys with an end, it ended soonest.  Bo asks.",
               "丢的是锁：有过期时间的键里，数它最先到期。小博来申请。");
    actor_walk_in(bo, ann);
}

const struct scenario scenario_eviction = {
    .name = "eviction",
    .number = "S19",
    .title = "The cache throws the lock away",
    .title_zh = "缓存把锁淘汰了",
    .source = "the articles keep locks and cache in one Redis; Redis on eviction",
    .story = {"Locks and cache share one Redis, with a limit on its memory.",
              "When it is full, the policy picks a key that ends by itself.",
              "A lock is just such a key, and often the one that ends soonest.",
              "The lock is thrown away while Ann works; Bo is let in.",
              "Keep locks in a Redis of their own, with noeviction."},
    .story_zh = {"锁和缓存共用一个 Redis，内存有上限。",
                 "内存满了，淘汰策略挑带过期时间的键下手。",
                 "锁正是这样的键，往往还是最快到期的那个。",
                 "小安还在干活，锁就被淘汰了，小博被放了进来。",
                 "锁要放在单独的 Redis 里，并设 noeviction。"},
    .actors = {"Ann", "Bo"},
    .breaks = SIGN_TWO_HOLDERS,
    .lease_ms = 20000,
    .needs_own_servers = true,
    .play = play,
};
