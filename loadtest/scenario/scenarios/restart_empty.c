/* SPDX-License-Identifier: MIT */
/* restart_empty.c -- Redis dies and starts again, and has forgotten every lock. */
#include "loadtest/scenario/scenario.h"

static void play(struct stage *s)
{
    struct actor *ann = stage_actor(s, 0), *bo = stage_actor(s, 1);

    stage_tell(s, "Ann takes the lock and reads the stock: one is left.",
               "小安拿到锁，读了库存：还剩一张。");
    actor_enter(ann);
    actor_read(ann);
    stage_tell(s, "Redis dies and is started again at once, with nothing from disk.",
               "Redis 宕机，马上又启动，磁盘上没有可读回的数据。");
    stage_server_hurt(s, "redis-restart-empty", stage_lock_server(s, 0), 0);
    stage_tell(s, "Ann is still at work, far within her lease.  Bo asks for the lock.",
               "小安还在干活，离租约到期还早。小博来申请锁。");
    actor_walk_in(bo, ann);
}

const struct scenario scenario_restart_empty = {
    .name = "restart-empty",
    .number = "S12",
    .title = "Redis restarts without its locks",
    .title_zh = "Redis 重启，锁没了",
    .source = "the articles on persistence; Redis' own page on Redlock and fsync",
    .story = {"Ann takes the lock; it is a key in the memory of Redis.",
              "Redis dies and starts again, without what it had in memory.",
              "Ann notices nothing: her lease has a long time to go.",
              "Bo asks, and gets the lock too; Ann and Bo both buy the last one.",
              "A lock in the memory of one server is lost with that memory."},
    .story_zh = {"小安拿到锁，它只是 Redis 内存里的一个键。",
                 "Redis 宕机重启，内存里的东西全没了。",
                 "小安毫无察觉：租约还长着呢。",
                 "小博来申请，也拿到了锁，两人都买到了最后一张。",
                 "锁只在一台服务器的内存里，内存没了，锁也就没了。"},
    .breaks = SIGN_TWO_HOLDERS,
    .lease_ms = 20000,
    .needs_own_servers = true,
    .play = play,
};
