/* SPDX-License-Identifier: MIT */
/* lost_order.c -- the database answers a COMMIT that is not on disk yet, and is killed.
 */
#include "loadtest/scenario/scenario.h"

static void play(struct stage *s)
{
    struct actor *ann = stage_actor(s, 0), *bo = stage_actor(s, 1);
    int dead;

    stage_tell(s, "The database answers COMMIT at once, and writes it down later.",
               "数据库先答复 COMMIT，稍后才落盘。");
    actor_enter(ann);
    stage_stop_in_postgres(s, "walwriter", "");
    stage_need(s, actor_buy(ann) == SALE_SOLD, "Ann is to be told that she has it");
    stage_tell(s, "Ann has been told that the last one is hers.  The server dies.",
               "小安得到答复：买到了最后一张。服务器宕机。");
    dead = stage_server_hurt(s, "server-kill", "postgres", 0);
    actor_leave(ann);
    stage_server_end(s, dead);
    stage_tell(s, "The server is back.  Bo asks for the last one.",
               "服务器恢复。小博来买最后一张。");
    actor_enter(bo);
    if (actor_buy(bo) == SALE_SOLD)
        stage_tell(s, "Ann's order is not there: Bo was told of the same unit.",
                   "小安的订单不在了：小博得到的是同一张。");
    else
        stage_tell(s, "There is none left for Bo.", "已经卖完，小博买不到。");
    actor_leave(bo);
}

const struct scenario scenario_lost_order = {
    .name = "lost-order",
    .number = "S28",
    .title = "The order that was confirmed and is not there",
    .title_zh = "确认过却不见了的订单",
    .source = "PostgreSQL's manual on asynchronous commit; Redis queues before inserts",
    .story = {"For speed, synchronous_commit is off.",
              "Ann's COMMIT is answered while it is only in memory.",
              "The server is killed, and comes back without Ann's order.",
              "Bo buys the same unit: two buyers were told of an order, one order is there.",
              "No lock prevents that: Ann and Bo came one after the other."},
    .story_zh = {"为了快，synchronous_commit 关掉了。",
                 "小安的 COMMIT 还只在内存里，就得到了答复。",
                 "服务器被杀，恢复后没有小安的订单。",
                 "小博买走了同一张：答复了两个人，只有一单。",
                 "锁防不住这件事：小安和小博本来就是一前一后。"},
    .breaks = SIGN_LOST_ORDER,
    .commits_lazily = true,
    .lease_ms = 20000,
    .needs_own_servers = true,
    .play = play,
};
