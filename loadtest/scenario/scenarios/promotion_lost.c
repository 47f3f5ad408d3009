/* SPDX-License-Identifier: MIT */
/* promotion_lost.c -- the primary answers a COMMIT that its standby never gets, and dies. */
#include "loadtest/scenario/scenario.h"

static void play(struct stage *s)
{
    struct actor *ann = stage_actor(s, 0), *bo = stage_actor(s, 1);

    stage_tell(s, "The primary answers COMMIT, and the standby gets the log a little later.",
               "主库先答复 COMMIT，备库稍后才收到日志。");
    actor_enter(ann);
    stage_await_standby(s);
    stage_stop_in_postgres(s, "walsender", "standby");
    stage_need(s, actor_buy(ann) == SALE_SOLD, "Ann is to be told that she has it");
    stage_tell(s, "Ann has been told that the last one is hers.  The primary dies, "
                  "and the standby is promoted.",
               "小安得到答复：买到了最后一张。主库宕机，备库被提升。");
    stage_server_hurt(s, "promote-standby", "standby", 0);
    (void)actor_release(ann);
    stage_tell(s, "Bo asks the new primary for the last one.",
               "小博向新主库要最后一张。");
    stage_need(s, actor_try_until_answered(bo) == DLOCK_OK, "Bo is to get the lock");
    if (actor_buy(bo) == SALE_SOLD)
        stage_tell(s, "The new primary has no order of Ann: Bo was told of the same unit.",
                   "新主库没有小安的订单：小博得到的是同一张。");
    else
        stage_tell(s, "There is none left for Bo.", "已经卖完，小博买不到。");
    (void)actor_release(bo);
}

const struct scenario scenario_promotion_lost = {
    .name = "promotion-lost",
    .number = "S62",
    .title = "The standby that never had the order",
    .title_zh = "从没收到那一单的备库",
    .source = "PostgreSQL's manual on asynchronous replication",
    .story = {"The standby follows its primary asynchronously.",
              "Ann's COMMIT is answered while the standby has nothing of it.",
              "The primary dies, and the standby is promoted without Ann's order.",
              "Bo buys the same unit: two buyers were told of an order, one order is there.",
              "No lock prevents that; synchronous_standby_names does."},
    .story_zh = {"备库异步跟随主库。",
                 "备库还什么都没收到，小安的 COMMIT 就得到了答复。",
                 "主库宕机，没有小安订单的备库被提升。",
                 "小博买走了同一张：答复了两个人，只有一单。",
                 "锁防不住这件事；设置 synchronous_standby_names 才能避免。"},
    .breaks = SIGN_LOST_ORDER,
    .lease_ms = 20000,
    .topology = LAB_TOPOLOGY_STANDBY,
    .play = play,
};
