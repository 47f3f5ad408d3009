/* SPDX-License-Identifier: MIT */
/* split_ensemble.c -- the leader of an ensemble stands still, and a holder hears of its session
 * from nobody but its own clock. */
#include "loadtest/scenario/scenario.h"

static void play(struct stage *s)
{
    struct actor *ann = stage_actor(s, 0), *bo = stage_actor(s, 1);
    int stopped;

    stage_open_sale(s, ann);
    stage_tell(s, "The leader stands still: for two seconds no server takes a write.",
               "领导者卡住：两秒内没有一台接受写入。");
    stopped = stage_server_hurt(s, "server-stop", stage_leader(s), 0);
    stage_tell(s, "Ann's own clock ends her lease, before any server can tell Ann.",
               "没有服务器能通知小安，小安自己的时钟先结束了租约。");
    actor_await_unprotected(ann);
    actor_release(ann);
    stage_tell(s, "A new leader ends Ann's session, and Bo takes the lock.",
               "新的领导者结束小安的会话，小博拿到锁。");
    actor_outwait(bo);
    stage_server_end(s, stopped);
    actor_buy(bo);
    actor_leave(bo);
}

const struct scenario scenario_split_ensemble = {
    .name = "split-ensemble",
    .number = "S54",
    .title = "No server of the ensemble says that the session is over",
    .title_zh = "会话结束了，集群里没有服务器来通知",
    .source = "apache/zookeeper#2058: EXPIRED is heard only from a quorum",
    .story = {"The leader stands still, and its followers wait for it two seconds.",
              "The followers go on answering reads, which says nothing of a session.",
              "Ann counts her lease herself, from the last write that was answered.",
              "Ann's lease ends before a new leader can end her session and let Bo in.",
              "A silent store promises nothing: a holder counts its own time."},
    .story_zh = {"领导者卡住，跟随者要等它两秒。",
                 "这期间跟随者照样回答读请求，可这说明不了会话还在。",
                 "小安从最后一次写入得到答复起，自己计时。",
                 "新领导者还没来得及结束会话、放小博进来，小安的租约已到期。",
                 "存储不吭声不等于承诺：持有者要自己计时。"},
    .breaks = SIGNS_TWO_INSIDE | SIGN_OVERSOLD | SIGN_LOST_UPDATE,
    .lease_ms = 1200,
    .topology = LAB_TOPOLOGY_ENSEMBLE,
    .play = play,
};
