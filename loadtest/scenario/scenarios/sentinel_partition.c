/* SPDX-License-Identifier: MIT */
/* sentinel_partition.c -- the master grants a lock while no replica can copy it. */
#include "loadtest/scenario/scenario.h"

static void play(struct stage *s)
{
    struct actor *ann = stage_actor(s, 0), *bo = stage_actor(s, 1);
    int cut;

    stage_tell(s, "The master is cut off from its replicas and the Sentinels.",
               "主节点与从节点、哨兵之间断网。");
    cut = stage_server_arm(s, "partition", NULL, 0);
    stage_tell(s, "Ann takes the lock at the master that is cut off: she still "
                  "reaches it.",
               "小安在被隔离的主节点拿到锁：小安还连得上它。");
    actor_enter(ann);
    actor_read(ann);
    stage_need_in_time(s, actor_is_protected(ann), "Ann was let in before the fail-over");
    stage_tell(s, "The Sentinels name another master, which knows nothing of Ann's lock.",
               "哨兵另立主节点，新主节点不知道小安的锁。");
    stage_server_begin(s, cut);
    stage_tell(s, "Bo takes the lock at the new master; Ann is still at work.",
               "小博在新主节点拿到锁，小安还在干活。");
    actor_enter(bo); /* waits until his library has heard of the new master */
    actor_buy(bo);
    actor_buy(ann);
    actor_release(ann);
    actor_leave(bo);
}

const struct scenario scenario_sentinel_partition = {
    .name = "sentinel-partition",
    .number = "S51",
    .title = "The master is cut off, and grants locks",
    .title_zh = "主节点被隔离，还在发锁",
    .source = "Redis Sentinel; asynchronous replication",
    .story = {"The master loses its replicas and the Sentinels, and keeps its clients.",
              "Ann takes the lock there, and no replica hears of it.",
              "The Sentinels name another master, where Bo takes the same lock.",
              "Ann learns within a second that her lock is lost, if she asks.",
              "Ann does not ask, and writes: only a guard at the data stops the write."},
    .story_zh = {"主节点连不上从节点和哨兵，客户端却连得上它。",
                 "小安在那里拿到锁，从节点一无所知。",
                 "哨兵另立主节点，小博在那里拿到同一把锁。",
                 "小安只要问一声，一秒内就知道锁丢了。",
                 "小安没问就写了：只有数据上的兜底拦得住这次写入。"},
    .breaks = SIGNS_TWO_INSIDE | SIGN_OVERSOLD | SIGN_LOST_UPDATE,
    .lease_ms = 30000,
    .has_fence_epochs = true,
    .topology = LAB_TOPOLOGY_SENTINEL,
    .play = play,
};
