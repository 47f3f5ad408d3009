/* SPDX-License-Identifier: MIT */
/* cluster_failover.c -- a master of a Redis Cluster stands still, and the lock is at its replica
 * too. */
#include "loadtest/scenario/scenario.h"

static void play(struct stage *s)
{
    stage_play_copied_lock(
        s, "The master of the lock's slot stands still; the others promote its replica.",
        "锁所在槽的主节点卡住了，其他主节点把它的从节点升为主节点。");
}

const struct scenario scenario_cluster_failover = {
    .name = "cluster-failover",
    .number = "S57",
    .title = "A Redis Cluster promotes a replica",
    .title_zh = "Redis 集群切换了主节点",
    .source = "Redis Cluster; clients that stay with the old master",
    .story = {"Ann takes the lock; the replica of its slot copies it.",
              "The master stands still, and the other masters elect the replica.",
              "Ann's library asks the nodes, and tells her that the lock is lost.",
              "Bo is refused as long as the copy of Ann's lock is there.",
              "Locks at the other masters stay: only the slots of this master have a new one."},
    .story_zh = {"小安拿到锁，这个槽的从节点复制了它。",
                 "主节点卡住，其他主节点选从节点接替。",
                 "小安的锁库询问各节点，告知小安锁已丢失。",
                 "小安那把锁的副本还在，小博就拿不到锁。",
                 "其他主节点上的锁不受影响：换主的只有这个主节点的槽。"},
    .breaks = SIGNS_TWO_INSIDE | SIGN_OVERSOLD | SIGN_LOST_UPDATE,
    .lease_ms = 15000,
    .topology = LAB_TOPOLOGY_CLUSTER,
    .play = play,
};
