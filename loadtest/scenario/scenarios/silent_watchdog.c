/* SPDX-License-Identifier: MIT */
/* silent_watchdog.c -- the watchdog's thread is stuck while the holder's thread works on.
 */
#include "loadtest/scenario/scenario.h"

/* A session does not end by this, so there is no need to wait for long. */
static dlock_status get_in(struct stage *s, struct actor *bo)
{
    return stage_has(s, DLOCK_CAP_SESSION)
               ? actor_acquire(bo, 2 * (int64_t)stage_lease_ms(s))
               : actor_outwait(bo);
}

static void play(struct stage *s)
{
    struct actor *ann = stage_actor(s, 0), *bo = stage_actor(s, 1);

    stage_tell(s, "Ann takes the lock; her watchdog is to renew its lease.",
               "小安拿到锁，由看门狗续期。");
    actor_arm(ann, DLOCK_FAULT_WATCHDOG_TICK, DLOCK_FAULT_HOLD);
    actor_enter(ann);
    actor_read(ann);
    stage_tell(s, "The watchdog is about to renew, and is stuck.  Ann works on.",
               "看门狗正要续期，却卡住了。小安照常干活。");
    actor_await_point(ann, DLOCK_FAULT_WATCHDOG_TICK);
    if (get_in(s, bo) != DLOCK_OK) {
        stage_tell(s, "This lock needs no watchdog: its session keeps it.",
                   "这把锁靠的不是看门狗，而是会话。");
        actor_buy(ann);
        actor_let_go(ann, DLOCK_FAULT_WATCHDOG_TICK);
        stage_need_in_time(s, actor_release(ann) == DLOCK_OK,
                           "Ann's session was to last");
        return;
    }
    stage_need_in_time(s, !stage_has(s, DLOCK_CAP_SESSION), "Ann's session was to last");
    stage_tell(s, "Ann's lease ended, and no message said so.  Bo has the lock, and "
                  "buys the last one.",
               "小安的租约到期，没有任何通知。小博拿到锁，买走最后一张。");
    actor_buy(bo);
    if (!actor_is_protected(ann))
        stage_tell(s, "Ann's lease says that it is over, and Ann does not look at it.",
                   "小安要是看一眼租约就会知道，可小安没看。");
    actor_buy(ann);
    actor_let_go(ann, DLOCK_FAULT_WATCHDOG_TICK);
    actor_release(ann);
    actor_release(bo);
}

const struct scenario scenario_silent_watchdog = {
    .name = "silent-watchdog",
    .number = "S9",
    .title = "The watchdog stops, the work does not",
    .title_zh = "看门狗停了，活还在干",
    .source = "the articles on Redisson's watchdog; known bugs: renewals that stop",
    .story = {"A watchdog renews Ann's lease, so the lease is short.",
              "The watchdog is stuck: starved, or in a request without an answer.",
              "Ann works on and notices nothing.",
              "Ann's lease ends; Bo takes the lock and buys the last voucher.",
              "A holder that relies on a watchdog has to look at its lease before the write."},
    .story_zh = {"因为有看门狗续期，小安的租约很短。",
                 "看门狗卡住了：抢不到 CPU，或在等一个没有应答的请求。",
                 "小安照常干活，毫无察觉。",
                 "小安的租约到期，小博拿到锁，买走最后一张券。",
                 "靠看门狗的持有者，写之前得先看租约。"},
    .breaks = SIGNS_TWO_INSIDE,
    .play = play,
};
