/* SPDX-License-Identifier: MIT */
/* fence_lost.c -- the counter of fences is in the Redis that forgets, and begins anew. */
#include "loadtest/scenario/scenario.h"

static void play(struct stage *s)
{
    struct actor *ann = stage_actor(s, 0), *bo = stage_actor(s, 1),
                 *chu = stage_actor(s, 2), *dee = stage_actor(s, 3);

    stage_tell(s, "Ann takes the lock, with a fence, and reads the stock.",
               "小安拿到锁和栅栏令牌，读了库存。");
    actor_enter(ann);
    actor_read(ann);
    stage_tell(s, "Redis restarts empty: the lock is gone, and the last fence that it "
                  "gave.",
               "Redis 清空重启：锁没了，发过的最后一个栅栏令牌也没了。");
    stage_server_hurt(s, "redis-restart-empty", stage_lock_server(s, 0), 0);
    stage_tell(s, "Bo takes the lock.  Bo's fence is the first again, as Ann's was.",
               "小博拿到锁。小博的栅栏令牌又是第一个，和小安的一样。");
    stage_need(s, actor_try_until_answered(bo) == DLOCK_OK, "Bo is to get in");
    actor_buy(bo);
    stage_tell(s, "Ann writes.  To the database, Ann's fence is as new as Bo's.",
               "小安写库。在数据库看来，小安的令牌和小博的一样新。");
    actor_buy(ann);
    actor_leave(bo);
    stage_tell(s, "Chu is next, and buys under the next fence.  Redis restarts empty "
                  "again.",
               "接着是小楚，用下一个栅栏令牌成交。Redis 再次清空重启。");
    actor_enter(chu);
    actor_buy(chu);
    stage_server_hurt(s, "redis-restart-empty", stage_lock_server(s, 0), 0);
    stage_tell(s, "Dee has the lock now, and is refused for an old fence.",
               "现在锁归小迪，小迪却因“栅栏令牌太旧”被拒。");
    stage_need(s, actor_try_until_answered(dee) == DLOCK_OK, "Dee is to get in");
    actor_buy(dee);
    actor_leave(dee);
    actor_release(chu);
    actor_release(ann);
}

const struct scenario scenario_fence_lost = {
    .name = "fence-lost",
    .number = "S13",
    .title = "The fence is lost with the lock",
    .title_zh = "栅栏令牌和锁一起丢了",
    .source = "Kleppmann 2016, and where the counter of RFencedLock is kept",
    .story = {"A counter in Redis gives each holder a higher number than the last.",
              "Redis restarts empty: the lock is gone, and the counter too.",
              "Bo gets the number that Ann has; the database cannot tell them apart.",
              "Later a rightful holder is refused: its number is lower than the row's.",
              "A fence has to be kept more safely than its lock."},
    .story_zh = {"Redis 里的计数器，给每个持有者一个更大的编号。",
                 "Redis 清空重启：锁没了，计数器也没了。",
                 "小博拿到的编号和小安的一样，数据库分不出来。",
                 "后来真正的持有者反被拒绝：编号比行里记的还小。",
                 "栅栏令牌要比锁保存得更可靠。"},
    .actors = {"Ann", "Bo", "Chu", "Dee"},
    .breaks = SIGN_FENCE | SIGN_TWO_HOLDERS,
    .stock = 4,
    .guard = &guard_fence,
    .lease_ms = 20000,
    .needs_own_servers = true,
    .play = play,
};
