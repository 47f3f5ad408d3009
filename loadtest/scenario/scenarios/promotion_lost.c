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
    stage_stop_in_postgres(s, "walsender");
    stage_need(s, actor_buy(ann) == SALE_SOLD, "Ann is to be told that she has it");
    stage_tell(s, "Ann has been told that the last one is hers.  The primary dies, and the "
                  "standby is promoted.",
               "小安得到答复：最后一件归她。主库死了，备库被提升。");
    stage_server_hurt(s, "promote-standby", "standby", 0);
    (void)actor_release(ann);
    stage_tell(s, "The new primary knows of no order.  Bo buys the last one.",
               "新主库不知道有这一单。小博买走最后一件。");
    stage_need(s, actor_try_until_answered(bo) == DLOCK_OK, "Bo is to get the lock");
    if (actor_buy(bo) != SALE_SOLD)
        stage_tell(s, "There is none left for Bo.", "没有剩下的给小博。");
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
              "The primary dies, and the standby is promoted without her order.",
              "Bo buys the same piece: two were told, one is there.",
              "No lock sees it; synchronous_standby_names prevents it."},
    .story_zh = {"备库异步跟随主库。",
                 "备库还什么都没收到，小安的 COMMIT 就得到了答复。",
                 "主库死了，没有她订单的备库被提升。",
                 "小博买走了同一件：答复了两个人，只有一单。",
                 "锁看不见这件事；设置 synchronous_standby_names 才能避免。"},
    .actors = {"Ann", "Bo"},
    .breaks = SIGN_LOST_ORDER,
    .lease_ms = 20000,
    .needs_own_servers = true,
    .topology = LAB_TOPOLOGY_STANDBY,
    .play = play,
};
