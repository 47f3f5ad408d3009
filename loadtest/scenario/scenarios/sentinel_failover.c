/* SPDX-License-Identifier: MIT */
/* sentinel_failover.c -- the master stands still, and the lock is at the new master too. */
#include "loadtest/scenario/scenario.h"

enum { COPY_MS = 300 };

static void play(struct stage *s)
{
    struct actor *ann = stage_actor(s, 0), *bo = stage_actor(s, 1);

    stage_tell(s, "Ann takes the lock and sees that one voucher is left.",
               "小安拿到锁，看到还剩一张券。");
    actor_enter(ann);
    actor_read(ann);
    stage_pass_ms(s, COPY_MS); /* she works, and the replicas copy her lock */
    stage_tell(s, "The master stands still; the Sentinels make a replica the master.",
               "主节点卡住了，哨兵把一个从节点升为主节点。");
    stage_server_hurt(s, "pause-master", NULL, 0);
    actor_await_unprotected(ann);
    stage_tell(s, "Ann is told that her lock may be lost, and gives her work up.",
               "小安得知锁可能已经丢失，放弃手上的活。");
    stage_tell(s, "Bo asks the new master, which has the copy of Ann's lock.",
               "小博问新的主节点，那里有小安那把锁的副本。");
    stage_need_in_time(s, actor_try_until_answered(bo) != DLOCK_OK,
                       "the copy of Ann's lock was there when Bo asked");
    actor_release(ann);
    actor_enter(bo);
    actor_buy(bo);
    actor_leave(bo);
}

const struct scenario scenario_sentinel_failover = {
    .name = "sentinel-failover",
    .number = "S50",
    .title = "Sentinels make another server the master",
    .title_zh = "哨兵切换了主节点",
    .source = "Redis Sentinel; clients that stay with the old master",
    .story = {"Ann takes the lock; the replicas copy it.",
              "The master stands still, and the Sentinels name another one.",
              "Ann's library follows them, and tells her that the lock is lost.",
              "Bo is refused as long as the copy of Ann's lock is there.",
              "After a fail-over nobody may count on a lock that an old master granted."},
    .story_zh = {"小安拿到锁，从节点都复制了。",
                 "主节点卡住，哨兵另立了主节点。",
                 "小安的锁库跟着切换，告知小安锁已丢失。",
                 "小安那把锁的副本还在，小博就拿不到锁。",
                 "故障转移之后，旧主节点给的锁谁都不能再当真。"},
    .actors = {"Ann", "Bo"},
    .breaks = SIGNS_TWO_INSIDE | SIGN_OVERSOLD | SIGN_LOST_UPDATE,
    .lease_ms = 8000,
    .needs_own_servers = true,
    .topology = LAB_TOPOLOGY_SENTINEL,
    .play = play,
};
