/* SPDX-License-Identifier: MIT */
/* connection_reset.c -- the connection to the lock's store breaks while the lock is
 * held. */
#include "loadtest/scenario/scenario.h"

/* The lock ends with its connection. */
static bool is_the_connection(const struct stage *s)
{
    return stage_has(s, DLOCK_CAP_SESSION) &&
           stage_store(s) == DLOCK_STORE_POSTGRES;
}

static void play(struct stage *s)
{
    struct actor *anna = stage_actor(s, 0), *ben = stage_actor(s, 1);

    stage_tell(s, "Anna takes the lock and sees that one voucher is left.",
               "安娜拿到锁，看到还剩一张券。");
    actor_enter(anna);
    actor_read(anna);
    stage_tell(s, "Her connections to the store are reset; she may connect anew at once.",
               "她到存储的连接被重置；马上可以重连。");
    actor_wire(anna, WIRE_LOCK, "cut to-client");
    actor_await_wire(anna, WIRE_LOCK);
    actor_wire_mend(anna, WIRE_LOCK);
    stage_tell(s, "She is at work.  Ben asks for the lock.", "她还在干活，本来申请锁。");
    if (is_the_connection(s)) {
        actor_enter(ben);
        actor_buy(ben);
        stage_tell(s, "Anna writes what she had in mind.", "安娜照原来的打算写了下去。");
        actor_buy(anna);
        actor_release(anna);
        actor_release(ben);
        return;
    }
    if (actor_try(ben) == DLOCK_OK) {
        stage_need_in_time(s, actor_is_protected(anna), "Anna's lease was to last");
        actor_buy(ben);
        actor_release(ben);
    }
    actor_buy(anna);
    /* The release may go unanswered, if it is the first to learn that the connection is
     * gone. */
    actor_release(anna);
    actor_enter(ben);
    actor_buy(ben);
    actor_release(ben);
}

const struct scenario scenario_connection_reset = {
    .name = "connection-reset",
    .number = "S23",
    .title = "The connection breaks while the lock is held",
    .title_zh = "持锁期间连接断了",
    .source = "PostgreSQL's manual on session locks; users of pooled connections",
    .story = {"Anna takes the lock and reads the stock: one is left.",
              "A firewall resets her connection to the lock's store.",
              "Where the lock is the connection, it is free; Ben takes it and buys.",
              "Anna writes too: her write goes over another connection.",
              "A lease, or a session with a number, outlives its connection."},
    .story_zh = {"安娜拿到锁，读了库存：还剩一张。",
                 "防火墙重置了她到锁存储的连接。",
                 "如果锁就是这条连接，锁便没了；本拿到锁，买走了。",
                 "安娜也写了：她的写走的是另一条连接。",
                 "租约，或者有编号的会话，比连接活得久。"},
    .actors = {"Anna", "Ben"},
    .breaks = SIGN_OVERSOLD | SIGN_TWO_HOLDERS | SIGN_WORKED_ON,
    .lease_ms = 1500,
    .play = play,
};
