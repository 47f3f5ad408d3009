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
    stage_stop_in_postgres(s, "walwriter");
    stage_need(s, actor_buy(ann) == SALE_SOLD, "Ann is to be told that she has it");
    stage_tell(s, "Ann has been told that the last one is hers.  The server dies.",
               "小安得到答复：最后一件归她。服务器死了。");
    dead = stage_server_hurt(s, "server-kill", "postgres", 0);
    actor_leave(ann);
    stage_server_end(s, dead);
    stage_tell(s, "The server is back, and knows of no order.  Bo buys the last one.",
               "它回来了，却不知道有这一单。小博买走最后一件。");
    actor_enter(bo);
    if (actor_buy(bo) != SALE_SOLD)
        stage_tell(s, "There is none left for Bo.", "没有剩下的给小博。");
    actor_leave(bo);
}

const struct scenario scenario_lost_order = {
    .name = "lost-order",
    .number = "S28",
    .title = "The order that was confirmed and is not there",
    .title_zh = "确认过却不见了的订单",
    .source = "PostgreSQL's manual on asynchronous commit; Redis queues before inserts",
    .story = {"synchronous_commit is off, since it is faster.",
              "Ann's COMMIT is answered while it is only in memory.",
              "The server is killed, and comes back without her order.",
              "Bo buys the same piece: two were told, one is there.",
              "No lock sees it: they were one after the other."},
    .story_zh = {"为了快，synchronous_commit 关掉了。",
                 "小安的 COMMIT 还只在内存里，就得到了答复。",
                 "服务器被杀，回来后没有她的订单。",
                 "小博买走了同一件：答复了两个人，只有一单。",
                 "锁看不见这件事：两人本来就是一前一后。"},
    .actors = {"Ann", "Bo"},
    .breaks = SIGN_LOST_ORDER,
    .commits_lazily = true,
    .lease_ms = 20000,
    .needs_own_servers = true,
    .play = play,
};
