/* SPDX-License-Identifier: MIT */
/* failover.c -- the primary dies before its replica has the lock's key. */
#include "loadtest/scenario/scenario.h"

static void play(struct stage *s)
{
    struct actor *ann = stage_actor(s, 0), *bo = stage_actor(s, 1);
    int failover = stage_server_arm(s, "redis-failover", stage_lock_server(s, 0), 0);

    stage_tell(s, "Ann takes the lock; the master grants it.", "小安拿到锁，是主节点给的。");
    actor_enter(ann);
    actor_read(ann);
    stage_tell(s, "The master dies before it replicates; the replica takes its place.",
               "主节点还没复制就宕机，从节点接替。");
    stage_server_begin(s, failover);
    stage_tell(s, "Ann is at work.  Bo asks the new master for the lock.",
               "小安还在干活，小博向新的主节点申请锁。");
    actor_walk_in(bo, ann);
}

const struct scenario scenario_failover = {
    .name = "failover",
    .number = "S11",
    .title = "The master dies before it replicates",
    .title_zh = "主节点没来得及复制就宕机",
    .source = "the articles on master and replica: why multi and Redlock exist",
    .story = {"Ann takes the lock on the master.",
              "The master dies; the lock had not reached the replica.",
              "The replica becomes master, and does not have the lock.",
              "Bo takes the lock too: two holders, and no process stopped or was late.",
              "Independent servers do not lose a lock together."},
    .story_zh = {"小安在主节点上拿到锁。",
                 "主节点宕机，锁还没复制到从节点。",
                 "从节点升为主节点，里面没有这把锁。",
                 "小博也拿到了锁：两个持有者，谁都没停顿、没超时。",
                 "彼此独立的服务器不会同时丢掉锁。"},
    .breaks = SIGN_TWO_HOLDERS,
    .lease_ms = 20000,
    .needs_own_servers = true,
    .play = play,
};
