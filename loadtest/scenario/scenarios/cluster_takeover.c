/* SPDX-License-Identifier: MIT */
/* cluster_takeover.c -- a replica of a Redis Cluster that lacks a lock is made master. */
#include "loadtest/scenario/scenario.h"

static void play(struct stage *s)
{
    struct actor *ann = stage_actor(s, 0), *bo = stage_actor(s, 1);
    int taken;

    stage_tell(s, "The master of the lock's slot loses its replica, and serves on.",
               "锁所在槽的主节点失去了从节点，但照常服务。");
    taken = stage_server_arm(s, "takeover", NULL, 0);
    stage_tell(s, "Ann takes the lock at that master.", "小安在这个主节点拿到锁。");
    actor_enter(ann);
    actor_read(ann);
    stage_need_in_time(s, actor_is_protected(ann), "Ann was let in before the fail-over");
    stage_tell(s, "The replica is made master, and knows nothing of Ann's lock.",
               "从节点被升为主节点，对小安的锁一无所知。");
    stage_server_begin(s, taken);
    stage_tell(s, "Bo takes the lock at the new master; Ann is still at work.",
               "小博在新主节点拿到锁，小安还在干活。");
    actor_enter(bo);
    actor_buy(bo);
    actor_buy(ann);
    actor_release(ann);
    actor_leave(bo);
}

const struct scenario scenario_cluster_takeover = {
    .name = "cluster-takeover",
    .number = "S58",
    .title = "A replica that lacks the lock becomes master",
    .title_zh = "缺了锁的从节点升为主节点",
    .source = "Redis Cluster; asynchronous replication, CLUSTER FAILOVER TAKEOVER",
    .story = {"The master of the slot loses its replica, and keeps its clients.",
              "Ann takes the lock there, and the replica does not hear of it.",
              "The replica becomes master, where Bo takes the same lock.",
              "Ann learns within a second that her lock is lost, if she asks.",
              "Ann does not ask, and writes: only a guard at the data stops the write."},
    .story_zh = {"这个槽的主节点失去从节点，客户端还连着它。",
                 "小安在那里拿到锁，从节点一无所知。",
                 "从节点升为主节点，小博在那里拿到同一把锁。",
                 "小安只要问一声，一秒内就知道锁丢了。",
                 "小安没问就写了：只有数据上的兜底拦得住这次写入。"},
    .breaks = SIGNS_TWO_INSIDE | SIGN_OVERSOLD | SIGN_LOST_UPDATE,
    .lease_ms = 30000,
    .has_fence_epochs = true,
    .topology = LAB_TOPOLOGY_CLUSTER,
    .play = play,
};
