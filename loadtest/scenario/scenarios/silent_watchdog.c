/* SPDX-License-Identifier: MIT */
/* silent_watchdog.c -- the thread that renews is stuck, the one that works is not. */
#include "loadtest/scenario/scenario.h"

/* A session does not end by this, so there is no need to wait for long. */
static dlock_status get_in(struct stage *s, struct actor *ben)
{
    return stage_has(s, DLOCK_CAP_SESSION)
               ? actor_acquire(ben, 2 * (int64_t)stage_lease_ms(s))
               : actor_outwait(ben);
}

static void play(struct stage *s)
{
    struct actor *anna = stage_actor(s, 0), *ben = stage_actor(s, 1);

    stage_tell(s, "Anna takes the lock; her watchdog is to renew its lease.",
               "安娜拿到锁，由看门狗给它续期。");
    actor_arm(anna, DLOCK_FAULT_WATCHDOG_TICK, DLOCK_FAULT_HOLD);
    actor_enter(anna);
    actor_read(anna);
    stage_tell(s, "The watchdog wakes to renew, and is stuck.  Anna works on.",
               "看门狗醒来正要续期，却卡住了。安娜照常干活。");
    actor_await_point(anna, DLOCK_FAULT_WATCHDOG_TICK);
    if (get_in(s, ben) != DLOCK_OK) {
        stage_tell(s, "No watchdog holds this lock: the session does.",
                   "这把锁靠的不是看门狗，而是会话。");
        actor_buy(anna);
        actor_let_go(anna, DLOCK_FAULT_WATCHDOG_TICK);
        stage_need_in_time(s, actor_release(anna) == DLOCK_OK,
                           "Anna's session was to last");
        return;
    }
    stage_need_in_time(s, !stage_has(s, DLOCK_CAP_SESSION), "Anna's session was to last");
    stage_tell(s, "The lease ran out without a word.  Ben has it, and buys the last one.",
               "租约无声无息地到期。本拿到锁，买走最后一张。");
    actor_buy(ben);
    if (!actor_is_protected(anna))
        stage_tell(s, "Had Anna asked her lease, it would have told her.  She does not.",
                   "安娜要是看一眼租约就会知道。可她没看。");
    actor_buy(anna);
    actor_let_go(anna, DLOCK_FAULT_WATCHDOG_TICK);
    actor_release(anna);
    actor_release(ben);
}

const struct scenario scenario_silent_watchdog = {
    .name = "silent-watchdog",
    .number = "S9",
    .title = "The watchdog stops, the work does not",
    .title_zh = "看门狗停了，活还在干",
    .source = "the articles on Redisson's watchdog; known bugs: renewals that stop",
    .story = {"Anna's lease is short, for a watchdog renews it.",
              "The watchdog is stuck: starved, or in a request without an answer.",
              "Anna works on and notices nothing.",
              "Her lease ends; Ben takes the lock and buys the last voucher.",
              "Who relies on a watchdog has to ask it before the write."},
    .story_zh = {"安娜的租约很短，因为有看门狗续期。",
                 "看门狗卡住了：抢不到 CPU，或在等一个没有应答的请求。",
                 "安娜照常干活，毫无察觉。",
                 "租约到期，本拿到锁，买走最后一张券。",
                 "靠看门狗的人，写之前得先问问它。"},
    .actors = {"Anna", "Ben"},
    .breaks = SIGNS_TWO_INSIDE,
    .play = play,
};
