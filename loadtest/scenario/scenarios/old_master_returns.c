/* SPDX-License-Identifier: MIT */
/* old_master_returns.c -- the old master goes on and calls itself master, with a lock that has
 * another holder at the new one. */
#include "loadtest/scenario/scenario.h"

enum { COPY_MS = 300 };

static void play(struct stage *s)
{
    struct actor *ann = stage_actor(s, 0), *bo = stage_actor(s, 1);
    int paused;

    stage_tell(s, "Ann takes the lock.  The master stands still, and another one is "
                  "named.",
               "小安拿到锁。主节点卡住，哨兵另立主节点。");
    actor_enter(ann);
    actor_read(ann);
    stage_pass_ms(s, COPY_MS); /* she works, and the replicas copy her lock */
    paused = stage_server_hurt(s, "pause-master", NULL, 0);
    actor_await_unprotected(ann);
    stage_tell(s, "Ann's lease ends at the new master, and Bo takes the lock there.",
               "小安的租约在新主节点到期，小博在那里拿到锁。");
    actor_outwait(bo);
    stage_tell(s, "The old master goes on, with Ann's lock, and takes writes for ten "
                  "seconds.",
               "旧主节点恢复，还留着小安的锁，十秒内照收写入。");
    stage_server_end(s, paused);
    stage_tell(s, "Ann asks for the lock.  Ann's library stays with the new master.",
               "小安再申请锁，小安的锁库只认新主节点。");
    actor_try_until_answered(ann);
    actor_buy(bo);
    actor_leave(bo);
}

const struct scenario scenario_old_master_returns = {
    .name = "old-master-returns",
    .number = "S52",
    .title = "The old master is back, and calls itself master",
    .title_zh = "旧主节点回来了，仍自称主节点",
    .source = "Redis Sentinel; redis/redis#1083, redis/redis-py#435",
    .story = {"The master stands still, and the Sentinels name another one.",
              "Ann's lease ends at the new master, and Bo takes the lock.",
              "The old master goes on: it takes writes until it is demoted.",
              "A client of the old master would be granted the lock that Bo holds.",
              "A client asks the Sentinels, asks for the ROLE, and cuts the old connections."},
    .story_zh = {"主节点卡住，哨兵另立主节点。",
                 "小安的租约在新主节点到期，小博拿到锁。",
                 "旧主节点恢复，被降级之前照收写入。",
                 "还连着旧主节点的客户端，会拿到小博持有的锁。",
                 "客户端要问哨兵、查 ROLE，并断开旧连接。"},
    .breaks = SIGNS_TWO_INSIDE | SIGN_OVERSOLD | SIGN_LOST_UPDATE,
    .lease_ms = 6000,
    .topology = LAB_TOPOLOGY_SENTINEL,
    .play = play,
};
