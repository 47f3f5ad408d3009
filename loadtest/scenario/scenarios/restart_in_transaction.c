/* SPDX-License-Identifier: MIT */
/* restart_in_transaction.c -- PostgreSQL ends and starts again after an order has taken its
 * unit, and before its COMMIT. */
#include "loadtest/scenario/scenario.h"

/* After the restart the lock may be gone, or be held until its lease ends. */
static void enter_again(struct stage *s, struct actor *ann)
{
    dlock_status st = actor_try_until_answered(ann);

    if (st != DLOCK_OK)
        st = actor_outwait(ann);
    stage_need(s, st == DLOCK_OK, "Ann is to get in again");
}

static void play(struct stage *s)
{
    struct actor *ann = stage_actor(s, 0), *bo = stage_actor(s, 1);
    enum sale_answer sale;

    stage_tell(s, "Bo buys one, and is told so.", "小博买了一张，也得到了答复。");
    actor_enter(bo);
    stage_need(s, actor_buy(bo) == SALE_SOLD, "Bo is to buy one");
    actor_leave(bo);
    stage_tell(s, "Ann's order has taken a unit, and nothing is committed.",
               "小安的订单已扣库存，还没提交。");
    actor_enter(ann);
    actor_arm(ann, DLOCK_FAULT_BEFORE_COMMIT, DLOCK_FAULT_HOLD);
    actor_begin_buy(ann);
    actor_await_point(ann, DLOCK_FAULT_BEFORE_COMMIT);
    stage_tell(s, "The database ends before Ann's COMMIT, and starts again.",
               "小安还没提交，数据库就崩溃，又重新启动。");
    stage_server_hurt(s, "postgres-restart-immediate", "postgres", 0);
    actor_let_go(ann, DLOCK_FAULT_BEFORE_COMMIT);
    sale = actor_end_buy(ann);
    stage_need(s, sale == SALE_UNSURE || sale == SALE_FAILED, "Ann is not to be told");
    actor_release(ann);
    stage_tell(s, "Ann sends the same request again.", "小安重发同一个请求。");
    enter_again(s, ann);
    stage_need_in_time(s, actor_buy_again(ann) == SALE_SOLD, "Ann's order was to be taken");
    actor_leave(ann);
}

const struct scenario scenario_restart_in_transaction = {
    .name = "restart-in-transaction",
    .number = "S27",
    .title = "The database restarts before COMMIT",
    .title_zh = "提交之前数据库重启",
    .source = "PostgreSQL's manual: what a crash leaves of a transaction",
    .story = {"Bo's order is committed, and Bo was told so.",
              "Ann's order has taken a unit when the database crashes and starts again.",
              "Ann's COMMIT goes to a dead connection: its outcome is not known.",
              "Ann sends the same request again: nothing is left of the first one.",
              "Ann and Bo have one order each: an answered COMMIT is kept, the other is gone."},
    .story_zh = {"小博的订单已提交，小博也得到了答复。",
                 "小安的订单刚扣了库存，数据库就崩溃重启。",
                 "小安的 COMMIT 发给了一条死连接：结果不明。",
                 "小安重发同一个请求：第一次的什么都没留下。",
                 "小安和小博各一单：答复过的提交都在，没答复的全无。"},
    .breaks = SIGN_LOST_ORDER | SIGN_DUPLICATE | SIGN_OVERSOLD | SIGN_LOST_UPDATE,
    .stock = 10,
    .lease_ms = 2000,
    .needs_own_servers = true,
    .play = play,
};
