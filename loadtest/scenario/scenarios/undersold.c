/* SPDX-License-Identifier: MIT */
/* undersold.c -- a process counts the stock down in Redis, and is killed before it writes
 * the order. */
#include "loadtest/scenario/scenario.h"

static void play(struct stage *s)
{
    struct actor *ann = stage_actor(s, 0), *bo = stage_actor(s, 1);

    stage_tell(s, "Redis counts the stock: one.  Ann takes it there.",
               "Redis 里计着库存：一张。小安在那里预扣了这一张。");
    actor_enter(ann);
    stage_need(s, actor_reserve(ann) == SALE_SOLD, "Ann is to have one");
    stage_tell(s, "Ann's process is killed while it writes the order into the database.",
               "小安的进程正往数据库写订单，被杀了。");
    actor_arm(ann, DLOCK_FAULT_BEFORE_COMMIT, DLOCK_FAULT_KILL);
    actor_begin_buy(ann);
    actor_await_point(ann, DLOCK_FAULT_BEFORE_COMMIT);
    stage_tell(s, "Ann's lock ends with its lease.  Ann's unit stays taken in Redis.",
               "小安的锁会到期，预扣的那一张却不会退回 Redis。");
    stage_need_in_time(s, actor_outwait(bo) == DLOCK_OK, "Bo is to get in");
    if (actor_reserve(bo) == SALE_SOLD)
        actor_buy(bo);
    actor_leave(bo);
}

const struct scenario scenario_undersold = {
    .name = "undersold",
    .number = "S29",
    .title = "Counted down in Redis, never written",
    .title_zh = "Redis 扣了，数据库没写",
    .source = "designs that deduct stock in Redis first; the articles' asynchronous orders",
    .story = {"Redis decides who may buy: it counts the stock down.",
              "Ann has the last one there, and dies before her COMMIT.",
              "The database rolls Ann's order back, and has one left.",
              "Bo is told \"sold out\"; nobody will ever buy the last one.",
              "A lock ends with its lease; a unit that was taken in Redis does not come back."},
    .story_zh = {"谁能买由 Redis 决定：在那里扣减库存。",
                 "小安扣到了最后一张，却死在 COMMIT 之前。",
                 "数据库回滚了小安的订单，还剩一张。",
                 "小博被告知售罄；这最后一张再也卖不出去。",
                 "锁会到期，在 Redis 里扣掉的库存不会自己退回。"},
    .breaks = SIGN_UNDERSOLD,
    .lease_ms = 800,
    .play = play,
};
