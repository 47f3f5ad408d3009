/* SPDX-License-Identifier: MIT */
/* undersold.c -- a process counts the stock down in Redis, and is killed before it writes
 * the order. */
#include "loadtest/scenario/scenario.h"

static void play(struct stage *s)
{
    struct actor *ann = stage_actor(s, 0), *bo = stage_actor(s, 1);

    stage_tell(s, "Redis counts the stock: one.  Ann takes it there.",
               "Redis 里计着库存：一件。小安在那里预扣了它。");
    actor_enter(ann);
    stage_need(s, actor_reserve(ann) == SALE_SOLD, "Ann is to have one");
    stage_tell(s, "She is at her order in the database when her process is killed.",
               "她正往数据库写订单，进程被杀了。");
    actor_arm(ann, DLOCK_FAULT_BEFORE_COMMIT, DLOCK_FAULT_KILL);
    actor_begin_buy(ann);
    actor_await_point(ann, DLOCK_FAULT_BEFORE_COMMIT);
    stage_tell(s, "Her lock frees itself.  Her piece does not: Redis says none is left.",
               "她的锁会自己释放，那一件不会：Redis 说没有了。");
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
              "The database rolls her order back, and has one left.",
              "Bo is told that all is sold; nobody will ever buy the last one.",
              "A lock frees itself; what was counted somewhere else does not."},
    .story_zh = {"谁能买由 Redis 决定：在那里扣减库存。",
                 "小安扣到了最后一件，却死在 COMMIT 之前。",
                 "数据库回滚了她的订单，还剩一件。",
                 "小博被告知售罄；这最后一件再也卖不出去。",
                 "锁会自己释放，扣在别处的数不会。"},
    .actors = {"Ann", "Bo"},
    .breaks = SIGN_UNDERSOLD,
    .lease_ms = 800,
    .play = play,
};
