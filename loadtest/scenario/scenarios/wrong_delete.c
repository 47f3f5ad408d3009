/* SPDX-License-Identifier: MIT */
/* wrong_delete.c -- a release that was under way for too long deletes the lock of the
 * next holder. */
#include "loadtest/scenario/scenario.h"

static void play(struct stage *s)
{
    struct actor *ann = stage_actor(s, 0), *bo = stage_actor(s, 1),
                 *chu = stage_actor(s, 2);
    dlock_status st;

    stage_tell(s, "Ann takes the lock, and releases it in time.",
               "小安拿到锁，并且按时释放。");
    actor_enter(ann);
    stage_need_in_time(s, actor_is_protected(ann), "Ann's lease was to last");
    stage_tell(s, "Ann's release is stuck in the network.", "可小安的释放请求卡在了网络里。");
    actor_wire(ann, WIRE_LOCK, "hold to-server");
    actor_begin_release(ann);
    actor_await_wire(ann, WIRE_LOCK);
    st = actor_outwait(bo);
    stage_need(s, !dlock_is_failure(st), "Bo is to be answered");
    if (st != DLOCK_OK) {
        stage_tell(s, "Without Ann's release nobody gets the lock.",
                   "小安的释放没到，谁也拿不到锁。");
        actor_wire(ann, WIRE_LOCK, "release to-server");
        actor_end(ann);
        actor_enter(bo);
        actor_leave(bo);
        return;
    }
    stage_tell(s, "Ann's lease is over and Bo has the lock when Ann's release arrives.",
               "小安的租约已经到期，锁归了小博，这时小安的释放才到。");
    actor_wire(ann, WIRE_LOCK, "release to-server");
    actor_end(ann);
    stage_tell(s, "Does Bo still have the lock?  Chu asks for it.",
               "锁还在小博手里吗？小楚来申请锁。");
    if (actor_try_until_answered(chu) == DLOCK_OK) {
        stage_need_in_time(s, actor_is_protected(bo), "Bo's own lease was to last");
        actor_read(bo);
        actor_buy(chu);
        actor_buy(bo);
        actor_release(chu);
    }
    actor_release(bo);
}

const struct scenario scenario_wrong_delete = {
    .name = "wrong-delete",
    .number = "S4",
    .title = "The wrong lock is deleted",
    .title_zh = "误删了别人的锁",
    .source = "the articles' first optimisation: whose lock does DEL delete?",
    .story = {"Ann is done and sends her DEL, which is stuck on its way.",
              "Ann's lease ends, and Bo takes the lock.",
              "Now the DEL arrives.  A DEL does not say whose lock it means.",
              "The DEL deletes Bo's lock, and Chu gets it while Bo works.",
              "A release that checks whose lock it is deletes no lock of others."},
    .story_zh = {"小安干完了活，发出 DEL，却卡在半路。",
                 "小安的租约到期，小博拿到了锁。",
                 "这时 DEL 才到，而 DEL 不看锁是谁的。",
                 "DEL 删掉了小博的锁，小楚也拿到了锁。",
                 "释放时判断锁是谁的，就不会误删。"},
    .actors = {"Ann", "Bo", "Chu"},
    .breaks = SIGN_TWO_HOLDERS,
    .lease_ms = 800,
    .store_timeout_ms = 8000,
    .play = play,
};
