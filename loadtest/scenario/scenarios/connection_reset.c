/* SPDX-License-Identifier: MIT */
/* connection_reset.c -- the connection to the lock's store breaks while the lock is
 * held. */
#include "loadtest/scenario/scenario.h"

static void play(struct stage *s)
{
    struct actor *ann = stage_actor(s, 0), *bo = stage_actor(s, 1);

    stage_open_sale(s, ann);
    stage_tell(s, "Ann's connections to the store are reset; Ann may connect anew at "
                  "once.",
               "小安到存储的连接被重置，马上可以重连。");
    actor_wire(ann, WIRE_LOCK, "cut to-client");
    actor_await_wire(ann, WIRE_LOCK);
    actor_wire_mend(ann, WIRE_LOCK);
    stage_tell(s, "Ann is at work.  Bo asks for the lock.", "小安还在干活，小博来申请锁。");
    if (stage_store_hears_of_death(s)) { /* the lock has ended with its connection */
        actor_enter(bo);
        actor_buy(bo);
        stage_tell(s, "Ann has read the stock already, and writes.",
                   "小安早就读过库存，接着写。");
        actor_buy(ann);
        actor_release(ann);
        actor_release(bo);
        return;
    }
    if (actor_try(bo) == DLOCK_OK) {
        stage_need_in_time(s, actor_is_protected(ann), "Ann's lease was to last");
        actor_buy(bo);
        actor_release(bo);
    }
    actor_buy(ann);
    /* The release may be the first request to find the connection closed; it then has no
     * answer. */
    actor_release(ann);
    actor_enter(bo);
    actor_buy(bo);
    actor_release(bo);
}

const struct scenario scenario_connection_reset = {
    .name = "connection-reset",
    .number = "S23",
    .title = "The connection breaks while the lock is held",
    .title_zh = "持锁期间连接断了",
    .source = "PostgreSQL's manual on session locks; users of pooled connections",
    .story = {"Ann takes the lock and reads the stock: one is left.",
              "A firewall resets Ann's connection to the lock's store.",
              "If the lock is that connection, it is free now: Bo takes it and buys.",
              "Ann writes too: her write goes over another connection.",
              "A lease, or a session with a number, outlives its connection."},
    .story_zh = {"小安拿到锁，读了库存：还剩一张。",
                 "防火墙重置了小安到锁存储的连接。",
                 "锁若就是这条连接，这时就空闲了：小博拿到锁，买走一张。",
                 "小安也写了：写请求走的是另一条连接。",
                 "连接断了，租约和有编号的会话还在。"},
    .breaks = SIGN_OVERSOLD | SIGN_TWO_HOLDERS | SIGN_WORKED_ON,
    .lease_ms = 1500,
    .play = play,
};
