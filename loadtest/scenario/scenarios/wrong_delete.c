/* SPDX-License-Identifier: MIT */
/* wrong_delete.c -- a release that was under way for too long deletes the lock of the
 * next holder. */
#include "loadtest/scenario/scenario.h"

static void play(struct stage *s)
{
    struct actor *anna = stage_actor(s, 0), *ben = stage_actor(s, 1),
                 *chen = stage_actor(s, 2);

    stage_tell(s, "Anna takes the lock, and releases it in time.",
               "安娜拿到锁，并且按时释放。");
    actor_enter(anna);
    stage_need_in_time(s, actor_is_protected(anna), "Anna's lease was to last");
    stage_tell(s, "What she sends is stuck in the network.", "可她的请求卡在了网络里。");
    actor_wire(anna, WIRE_LOCK, "hold to-server");
    actor_begin_release(anna);
    actor_await_wire(anna, WIRE_LOCK);
    if (actor_outwait(ben) != DLOCK_OK) {
        stage_tell(s, "Without her release nobody gets in.", "她的释放没到，谁也进不来。");
        actor_wire(anna, WIRE_LOCK, "release to-server");
        actor_end(anna);
        actor_enter(ben);
        actor_leave(ben);
        return;
    }
    stage_tell(s, "Her lease is over and Ben is inside when her release arrives.",
               "她的租约已经结束，本在里面，这时她的释放才到。");
    actor_wire(anna, WIRE_LOCK, "release to-server");
    actor_end(anna);
    stage_tell(s, "Is Ben still alone?  Chen asks for the lock.",
               "本还是独自一人吗？陈来申请锁。");
    if (actor_try(chen) == DLOCK_OK) {
        stage_need_in_time(s, actor_is_protected(ben), "Ben's own lease was to last");
        actor_read(ben);
        actor_buy(chen);
        actor_buy(ben);
        actor_release(chen);
    }
    actor_release(ben);
}

const struct scenario scenario_wrong_delete = {
    .name = "wrong-delete",
    .number = "S4",
    .title = "The wrong lock is deleted",
    .title_zh = "误删了别人的锁",
    .source = "the articles' first optimisation: whose lock does DEL delete?",
    .story = {"Anna is done and sends her DEL, which is stuck on its way.",
              "Her lease ends, and Ben takes the lock.",
              "Now the DEL arrives.  It has no name on it.",
              "It deletes Ben's lock, and Chen walks in beside him.",
              "A release that says whose lock it means does no harm."},
    .story_zh = {"安娜干完了活，发出 DEL，却卡在半路。",
                 "她的租约到期，本拿到了锁。",
                 "这时 DEL 才到，而它不认主人。",
                 "它删掉了本的锁，陈也走了进来。",
                 "释放时说清是谁的锁，就不会误伤。"},
    .actors = {"Anna", "Ben", "Chen"},
    .breaks = SIGN_TWO_HOLDERS,
    .lease_ms = 800,
    .store_timeout_ms = 8000,
    .play = play,
};
