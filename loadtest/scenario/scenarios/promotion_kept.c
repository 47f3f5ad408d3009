/* SPDX-License-Identifier: MIT */
/* promotion_kept.c -- the primary dies after a COMMIT that its standby was waited for with. */
#include "loadtest/scenario/scenario.h"

static void play(struct stage *s)
{
    struct actor *ann = stage_actor(s, 0), *bo = stage_actor(s, 1);

    stage_tell(s, "Every COMMIT waits until the standby has it on its disk.",
               "每次 COMMIT 都要等备库落盘才答复。");
    actor_enter(ann);
    stage_need(s, actor_buy(ann) == SALE_SOLD, "Ann is to be told that she has it");
    stage_tell(s, "Ann has been told that the last one is hers.  The primary dies, "
                  "and the standby is promoted.",
               "小安得到答复：买到了最后一张。主库宕机，备库被提升。");
    stage_server_hurt(s, "promote-standby", "synced", 0);
    (void)actor_release(ann);
    stage_tell(s, "The new primary has Ann's order.  Bo asks for the last one.",
               "新主库有小安的订单。小博来要最后一张。");
    stage_need(s, actor_try_until_answered(bo) == DLOCK_OK, "Bo is to get the lock");
    if (actor_buy(bo) != SALE_SOLD)
        stage_tell(s, "There is none left for Bo.", "已经卖完，小博买不到。");
    (void)actor_release(bo);
}

const struct scenario scenario_promotion_kept = {
    .name = "promotion-kept",
    .number = "S63",
    .title = "The standby that was waited for",
    .title_zh = "答复之前先等的备库",
    .source = "PostgreSQL's manual on synchronous replication",
    .story = {"synchronous_standby_names has the standby.",
              "Ann's COMMIT is answered when the standby has it.",
              "The primary dies, and the standby is promoted with Ann's order.",
              "Bo finds it sold out.",
              "What was acknowledged survives; each COMMIT waits for two disks."},
    .story_zh = {"synchronous_standby_names 里写了这台备库。",
                 "备库落盘之后，小安的 COMMIT 才得到答复。",
                 "主库宕机，备库带着小安的订单被提升。",
                 "小博发现已售罄。",
                 "答复过的都还在；代价是每次 COMMIT 要等两块磁盘。"},
    .breaks = SIGN_LOST_ORDER | SIGN_OVERSOLD | SIGN_LOST_UPDATE,
    .lease_ms = 20000,
    .topology = LAB_TOPOLOGY_SYNCED,
    .play = play,
};
