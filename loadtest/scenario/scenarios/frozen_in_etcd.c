/* SPDX-License-Identifier: MIT */
/* frozen_in_etcd.c -- an etcd of three members ends the lease of a holder that stands still, though
 * its leader changes meanwhile, and the holder writes. */
#include "loadtest/scenario/scenario.h"

static void play(struct stage *s)
{
    struct actor *ann = stage_actor(s, 0), *bo = stage_actor(s, 1);

    stage_open_sale(s, ann);
    stage_tell(s, "Ann's process stops.  The leader dies, and the new one counts "
                  "Ann's lease anew.",
               "小安的进程停住了。领导者宕机，新的领导者从头计小安的租约。");
    actor_stop(ann);
    stage_server_hurt(s, "kill-leader", NULL, 0);
    stage_tell(s, "Ann's lease ends all the same.  Bo takes the lock and buys the "
                  "last one.",
               "小安的租约还是到期了。小博拿到锁，买走最后一张。");
    stage_need(s, actor_outwait(bo) == DLOCK_OK, "Bo is to get in when the lease has ended");
    actor_buy(bo);
    stage_tell(s, "Ann's process goes on.  Ann has read the stock already, and writes.",
               "小安的进程恢复，早就读过库存，接着写。");
    actor_continue(ann);
    actor_buy(ann);
    actor_await_unprotected(ann);
    actor_release(ann);
    actor_leave(bo);
}

const struct scenario scenario_frozen_in_etcd = {
    .name = "frozen-in-etcd",
    .number = "S60",
    .title = "etcd ends the lease of a holder that stands still",
    .title_zh = "持有者停住，etcd 结束了租约",
    .source = "etcd's documentation of its lock: a lease alone stops no writer",
    .story = {"Ann's lock is a key with a lease, which her process renews.",
              "Ann's process stops, and the leader of the etcd dies.",
              "A new leader counts Ann's lease anew, and ends it, too.",
              "Bo takes the lock, with a greater revision, and buys the last one.",
              "Ann writes when her process goes on; only the fence at the database stops that."},
    .story_zh = {"小安的锁是一个带租约的键，由小安的进程续期。",
                 "小安的进程停住了，etcd 的领导者也宕机了。",
                 "新领导者从头计小安的租约，最后也结束了它。",
                 "小博拿到锁，修订号更大，买走最后一张。",
                 "小安的进程恢复后接着写，只有数据库的栅栏令牌拦得住。"},
    .breaks = SIGNS_TWO_INSIDE | SIGN_OVERSOLD | SIGN_LOST_UPDATE,
    .lease_ms = 2000,
    .topology = LAB_TOPOLOGY_ETCD,
    .play = play,
};
