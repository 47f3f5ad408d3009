/* SPDX-License-Identifier: MIT */
/* fence_lost.c -- the counter of fences is in the Redis that forgets, and begins anew. */
#include "loadtest/scenario/scenario.h"

static void play(struct stage *s)
{
    struct actor *anna = stage_actor(s, 0), *ben = stage_actor(s, 1),
                 *chen = stage_actor(s, 2), *dora = stage_actor(s, 3);

    stage_tell(s, "Anna takes the lock, with a fence, and reads the stock.",
               "安娜拿到锁和栅栏号，读了库存。");
    actor_enter(anna);
    actor_read(anna);
    stage_tell(s, "Redis forgets everything: the lock, and the last fence that it gave.",
               "Redis 什么都忘了：锁，还有它发过的最后一个栅栏号。");
    stage_server_hurt(s, "redis-restart-empty", stage_lock_server(s, 0), 0);
    stage_tell(s, "Ben takes the lock.  His fence is the first again, as Anna's was.",
               "本拿到锁。他的栅栏号又是头一个，和安娜的一样。");
    stage_need(s, actor_try_until_answered(ben) == DLOCK_OK, "Ben is to get in");
    actor_buy(ben);
    stage_tell(s, "Anna writes.  To the database she is as new as he is.",
               "安娜写库。在数据库看来，她和本一样新。");
    actor_buy(anna);
    actor_leave(ben);
    stage_tell(s, "Chen is next, and sells under the next fence.  Redis forgets again.",
               "接着是陈，用下一个栅栏号成交。Redis 再次失忆。");
    actor_enter(chen);
    actor_buy(chen);
    stage_server_hurt(s, "redis-restart-empty", stage_lock_server(s, 0), 0);
    stage_tell(s, "Dora has the lock now.  She is refused, for an old fence.",
               "现在锁归朵拉，她却因“栅栏号太旧”被拒。");
    stage_need(s, actor_try_until_answered(dora) == DLOCK_OK, "Dora is to get in");
    actor_buy(dora);
    actor_leave(dora);
    actor_release(chen);
    actor_release(anna);
}

const struct scenario scenario_fence_lost = {
    .name = "fence-lost",
    .number = "S13",
    .title = "The fence is lost with the lock",
    .title_zh = "栅栏号和锁一起丢了",
    .source = "Kleppmann 2016, and where the counter of RFencedLock is kept",
    .story = {"A counter in Redis gives each holder a higher number than the last.",
              "Redis loses its memory: the lock is gone, and the counter too.",
              "Ben gets the number that Anna has; the database cannot tell them apart.",
              "Later an honest holder is refused: its number is lower than the row's.",
              "A fence has to be kept more safely than the lock that it guards."},
    .story_zh = {"Redis 里的计数器，给每个持有者一个更大的号。",
                 "Redis 失忆：锁没了，计数器也没了。",
                 "本拿到的号和安娜的一样，数据库分不出他俩。",
                 "后来老实的持有者反被拒绝：号比行里记的还小。",
                 "栅栏号得比它守的锁保管得更牢。"},
    .actors = {"Anna", "Ben", "Chen", "Dora"},
    .breaks = SIGN_FENCE | SIGN_TWO_HOLDERS,
    .stock = 4,
    .guard = &guard_fence,
    .lease_ms = 20000,
    .needs_own_servers = true,
    .play = play,
};
