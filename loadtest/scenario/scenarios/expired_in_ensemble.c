/* SPDX-License-Identifier: MIT */
/* expired_in_ensemble.c -- an ensemble ends the session that holds a lock, and
 * its holder writes. */
#include "loadtest/scenario/scenario.h"

static void play(struct stage *s)
{
    struct actor *ann = stage_actor(s, 0), *bo = stage_actor(s, 1);

    stage_open_sale(s, ann);
    stage_tell(s, "The ensemble ends Ann's session on every server; her "
                  "connection to the database stays.",
               "集群在每台服务器上都结束了小安的会话；小安到数据库的连接照常。");
    stage_server_hurt(s, "zookeeper-expire", stage_leader(s), 0);
    stage_tell(s, "Bo takes the lock and buys the last one.", "小博拿到锁，买走最后一张。");
    actor_enter(bo);
    actor_buy(bo);
    stage_tell(s, "Ann has read the stock already, and writes.",
               "小安早就读过库存，接着写。");
    actor_buy(ann);
    actor_release(ann);
    actor_leave(bo);
}

const struct scenario scenario_expired_in_ensemble = {
    .name = "expired-in-ensemble",
    .number = "S55",
    .title = "An ensemble ends a session, and its holder writes",
    .title_zh = "集群结束了会话，持有者还在写",
    .source = "ZooKeeper's expired sessions",
    .story = {"Ann's lock is in a session; her writes go over another connection.",
              "The servers agree, and end the session.",
              "Bo takes the lock, with a greater fence, and buys the last one.",
              "Ann's library knows that the lock is lost; Ann does not ask it.",
              "Three servers lose no lock, and stop no writer: only the fence stops it."},
    .story_zh = {"小安的锁属于一个会话，写请求走另一条连接。",
                 "几台服务器一致结束了这个会话。",
                 "小博拿到锁，栅栏令牌更大，买走最后一张。",
                 "小安的锁库知道锁丢了，小安却没有问。",
                 "三台服务器不会丢锁，也拦不住写入：栅栏令牌才拦得住。"},
    .breaks = SIGN_OVERSOLD | SIGN_LOST_UPDATE,
    .lease_ms = 10000,
    .topology = LAB_TOPOLOGY_ENSEMBLE,
    .play = play,
};
