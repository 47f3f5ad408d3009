/* SPDX-License-Identifier: MIT */
/* sentinel_failover.c -- the master stands still, and the lock is at the new master too. */
#include "loadtest/scenario/scenario.h"

static void play(struct stage *s)
{
    stage_play_copied_lock(
        s, "The master stands still; the Sentinels make a replica the master.",
        "主节点卡住了，哨兵把一个从节点升为主节点。");
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
    .breaks = SIGNS_TWO_INSIDE | SIGN_OVERSOLD | SIGN_LOST_UPDATE,
    .lease_ms = 8000,
    .topology = LAB_TOPOLOGY_SENTINEL,
    .play = play,
};
