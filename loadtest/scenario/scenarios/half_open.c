/* SPDX-License-Identifier: MIT */
/* half_open.c -- the network between the holder and its store falls silent: no error,
 * no answer. */
#include "loadtest/scenario/scenario.h"

/* The server is not told that a connection is dead on which nothing is said. */
static void nobody_gets_in(struct stage *s, struct actor *ann, struct actor *bo)
{
    stage_tell(s, "To the server Ann's connection is still open.  Bo waits.",
               "在服务器看来，小安的连接还开着。小博只能等。");
    actor_buy(ann);
    stage_tell(s, "Ann's release does not arrive before the network is back.",
               "网络恢复之前，小安的释放到不了服务器。");
    actor_begin_release(ann);
    actor_await_wire(ann, WIRE_LOCK);
    actor_wire_mend(ann, WIRE_LOCK);
    actor_end(ann);
    actor_enter(bo);
    actor_buy(bo);
    actor_leave(bo);
}

static void play(struct stage *s)
{
    struct actor *ann = stage_actor(s, 0), *bo = stage_actor(s, 1);
    dlock_status st;

    stage_open_sale(s, ann);
    stage_tell(s, "Ann's network to the store falls silent: nothing arrives, nothing "
                  "fails.",
               "小安到存储的网络静默了：什么也不到，也不报错。");
    actor_wire(ann, WIRE_LOCK, "hold to-client");
    actor_wire(ann, WIRE_LOCK, "hold to-server");
    st = actor_outwait(bo);
    stage_need(s, !dlock_is_failure(st), "Bo is to be answered");
    if (st != DLOCK_OK) {
        nobody_gets_in(s, ann, bo);
        return;
    }
    /* A lock that nobody renews sends nothing now. */
    if (stage_is_renewed(s) || stage_has(s, DLOCK_CAP_SESSION))
        actor_await_wire(ann, WIRE_LOCK);
    stage_tell(s, "No renewal got through.  Bo has the lock now, and buys the last one.",
               "续期送不到，锁已归小博，小博买走最后一张。");
    actor_buy(bo);
    stage_tell(s, "Ann looks at her lease before she writes.",
               "小安写之前，先看自己的租约。");
    if (actor_is_protected(ann))
        actor_buy(ann);
    else
        stage_tell(s, "Ann knows without any message that her lease is over, and "
                      "writes nothing.",
                   "没有任何消息，小安也知道租约已到期，于是什么都不写。");
    actor_wire_mend(ann, WIRE_LOCK);
    actor_release(ann);
    actor_release(bo);
}

/* The checker cannot know when Ann stopped working, so the database decides whether she
 * wrote. */
const struct scenario scenario_half_open = {
    .name = "half-open",
    .number = "S23b",
    .title = "The silent network, and the holder who asks its lease",
    .title_zh = "静默的网络，和会看租约的持有者",
    .source = "half-open connections; Consul's issue of a lost lock noticed minutes later",
    .story = {"Ann holds the lock; then the network carries nothing, in either direction.",
              "No error comes, and no renewal arrives.  Ann's lease ends; Bo gets the lock.",
              "Ann's library counts the lease from when its last answered request was sent.",
              "So Ann knows that her lease is over before Bo gets the lock, and stops.",
              "The server keeps a lock that is a connection: Bo waits."},
    .story_zh = {"小安持有锁，随后网络两个方向都不通了。",
                 "没有报错，续期也送不到。小安的租约到期，小博拿到锁。",
                 "小安的锁库从最后一次得到应答的请求发出时开始计算租约。",
                 "所以小博拿到锁之前，小安就知道租约已到期，停了手。",
                 "锁若就是连接，服务器会继续保留它：小博只能等。"},
    .breaks = SIGN_OVERSOLD | SIGN_LOST_UPDATE,
    .lease_ms = 800,
    .play = play,
};
