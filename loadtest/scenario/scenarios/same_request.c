/* SPDX-License-Identifier: MIT */
/* same_request.c -- as lost_commit, but the client orders again under the number of its
 * first request. */
#include "loadtest/scenario/scenario.h"

static void play(struct stage *s)
{
    struct actor *ann = stage_actor(s, 0), *bo = stage_actor(s, 1);

    stage_tell(s, "Ann's COMMIT is done, and its answer is lost.",
               "小安的 COMMIT 已完成，应答丢了。");
    actor_enter(ann);
    actor_wire(ann, WIRE_SHOP, "cut to-client at to-server COMMIT");
    stage_need(s, actor_buy(ann) == SALE_UNSURE, "Ann is not to know");
    actor_release(ann);
    stage_tell(s, "Bo's COMMIT is lost on its way, so nothing is done.",
               "小博的 COMMIT 丢在半路，什么也没发生。");
    actor_enter(bo);
    actor_wire(bo, WIRE_SHOP, "cut to-server at to-server COMMIT");
    stage_need(s, actor_buy(bo) == SALE_UNSURE, "Bo is not to know either");
    actor_release(bo);
    stage_tell(s, "Ann and Bo see the same error.  Each sends the same request again.",
               "小安和小博看到同样的错误，各自重发同一个请求。");
    actor_enter(ann);
    stage_need_in_time(s, actor_buy_again(ann) == SALE_REPEATED,
                       "Ann's first order was to be found");
    actor_release(ann);
    actor_enter(bo);
    stage_need_in_time(s, actor_buy_again(bo) == SALE_SOLD, "Bo's order was to be taken");
    actor_release(bo);
}

const struct scenario scenario_same_request = {
    .name = "same-request",
    .number = "S26b",
    .title = "The same request again: its number decides",
    .title_zh = "重发同一个请求：请求号区分两种情况",
    .source = "idempotency keys: a request's id, unique in the table of orders",
    .story = {"Ann's COMMIT is done, Bo's never arrives; neither is answered.",
              "Ann and Bo are told the same: the outcome is not known.",
              "Each sends the same request again, under the same id.",
              "Ann has an order, so the unique index refuses Ann's; Bo's is accepted.",
              "One order each, under every lock and without any."},
    .story_zh = {"小安的 COMMIT 完成了，小博的没有送到；两人都没等到应答。",
                 "小安和小博看到的一样：结果不明。",
                 "各自用同一个请求号重发。",
                 "小安已有订单，唯一索引拒绝重发；小博这才买到。",
                 "每人恰好一单，不管用什么锁，没有锁也一样。"},
    .breaks = SIGN_DUPLICATE | SIGN_OVERSOLD | SIGN_LOST_UPDATE,
    .stock = 10,
    .lease_ms = 20000,
    .play = play,
};
