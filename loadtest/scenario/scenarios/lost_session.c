/* SPDX-License-Identifier: MIT */
/* lost_session.c -- the server ends the session that holds the lock, while the order's
 * write goes over another connection. */
#include "loadtest/scenario/scenario.h"

static void play(struct stage *s)
{
    struct actor *ann = stage_actor(s, 0), *bo = stage_actor(s, 1);
    const char *server = stage_lock_server(s, 0);
    bool waits = stage_guard(s) == &guard_row_lock;

    stage_open_sale(s, ann);
    stage_tell(s, "The server ends the session that is Ann's lock; her "
                  "connection to the database stays.",
               "服务器结束了承载锁的会话；小安到数据库的连接照常。");
    stage_server_hurt(s,
                      stage_store(s) == DLOCK_STORE_POSTGRES ? "postgres-kill-backend"
                                                             : "zookeeper-expire",
                      server, 0);
    stage_tell(s, "Bo takes the lock and buys the last one.", "小博拿到锁，买走最后一张。");
    actor_enter(bo);
    actor_begin_buy(bo);
    if (!waits)
        actor_end_buy(bo);
    stage_tell(s, "Ann has read the stock already, and writes.",
               "小安早就读过库存，接着写。");
    actor_buy(ann);
    if (waits)
        actor_end_buy(bo);
    actor_release(ann);
    actor_leave(bo);
}

const struct scenario scenario_lost_session = {
    .name = "lost-session",
    .number = "S24",
    .title = "The lock's session ends, and the work's session does not",
    .title_zh = "锁的会话断了，干活的会话没断",
    .source = "advisory locks behind a second connection; ZooKeeper's expired sessions",
    .story = {"Ann's lock is in a session of its own; her writes go over another.",
              "The server ends the lock's session: an operator, or a restart.",
              "The lock is free at once.  Bo takes it and buys the last one.",
              "Ann's other connection works, and Ann writes: oversold.",
              "A lock in the write's own transaction is lost only with the write."},
    .story_zh = {"小安的锁属于单独的会话，写请求走另一条连接。",
                 "服务器结束了锁的会话：运维操作，或者重启。",
                 "锁立刻空闲，小博拿到锁，买走最后一张。",
                 "小安的另一条连接还好好的，小安接着写：超卖。",
                 "锁若就在写入的那个事务里，丢锁时写入也一起丢。"},
    .breaks = SIGN_OVERSOLD | SIGN_LOST_UPDATE,
    .lease_ms = 5000,
    .needs_own_servers = true,
    .play = play,
};
