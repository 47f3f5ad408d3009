/* SPDX-License-Identifier: MIT */
/* late_renewal.c -- a renewal is delayed, and arrives after its lock was released. */
#include "loadtest/scenario/scenario.h"

/* A lock that has not ended after so many leases is renewed. */
enum { LEASES = 6 };

/* A dropped renewal is the only renewal that the watchdog drops: the next lock is
 * renewed. */
static void renews_the_next(struct stage *s, struct actor *ann)
{
    stage_tell(s, "Ann takes the lock again for longer than a lease.  The watchdog "
                  "renews it.",
               "小安又拿到锁，用得比租约还久。看门狗照常续期。");
    actor_arm(ann, DLOCK_FAULT_WATCHDOG_TICK, DLOCK_FAULT_HOLD);
    actor_enter(ann);
    actor_await_point(ann, DLOCK_FAULT_WATCHDOG_TICK);
    actor_let_go(ann, DLOCK_FAULT_WATCHDOG_TICK);
    stage_pass_ms(s, 2 * stage_lease_ms(s));
    stage_need_in_time(s, actor_is_protected(ann), "Ann's watchdog was to renew");
    stage_need_in_time(s, actor_release(ann) == DLOCK_OK, "Ann's lease was to last");
}

static void play(struct stage *s)
{
    struct actor *ann = stage_actor(s, 0), *bo = stage_actor(s, 1),
                 *chu = stage_actor(s, 2);
    dlock_status st;

    stage_tell(s, "Ann's watchdog is about to renew, and is held up just then.",
               "小安的看门狗正要续期，恰好卡住了。");
    actor_arm(ann, DLOCK_FAULT_WATCHDOG_TICK, DLOCK_FAULT_HOLD);
    actor_enter(ann);
    actor_await_point(ann, DLOCK_FAULT_WATCHDOG_TICK);
    stage_need_in_time(s, actor_release(ann) == DLOCK_OK, "Ann's lease was to last");
    stage_tell(s, "Ann has released the lock.  Bo takes it and dies.",
               "小安已经释放。小博拿到锁，随后死去。");
    stage_need(s, actor_try(bo) == DLOCK_OK, "the lock was to be free");
    actor_kill(bo);
    stage_tell(s, "Ann's watchdog goes on with the renewal that it was about to send.",
               "小安的看门狗接着做刚才要做的续期。");
    actor_let_go(ann, DLOCK_FAULT_WATCHDOG_TICK);
    st = actor_acquire(chu, LEASES * (int64_t)stage_lease_ms(s));
    stage_need_in_time(s, !dlock_is_failure(st), "Chu was to be answered");
    if (st != DLOCK_OK) {
        stage_sign(s, SIGN_DEAD_LOCK, "the lock of a dead holder is renewed");
        return;
    }
    stage_tell(s, "Bo's lease ended by itself: nothing renewed it.  Chu gets the lock.",
               "小博的租约自己到期了：没有谁来续。小楚拿到了锁。");
    actor_leave(chu);
    renews_the_next(s, ann);
}

const struct scenario scenario_late_renewal = {
    .name = "late-renewal",
    .number = "S10",
    .title = "Renewed after it was released",
    .title_zh = "释放之后又被续期",
    .source = "Redisson #7272: a renewal that outlives unlock() keeps the lock for ever",
    .story = {"Ann's watchdog is about to renew, and is held up.",
              "Ann releases the lock; Bo takes it, and dies.",
              "The watchdog goes on: does it renew what it finds under that name?",
              "If it does, the lock of the dead Bo is renewed for ever.",
              "A watchdog must look again whose lock it is, here and in the store."},
    .story_zh = {"小安的看门狗正要续期，卡住了。",
                 "小安释放了锁；小博拿到锁，随后死去。",
                 "看门狗接着往下走：见到同名的锁就续期吗？",
                 "那样，死去的小博的锁会永远被续下去。",
                 "看门狗必须再看一眼锁是谁的，在本地，也在存储里。"},
    .actors = {"Ann", "Bo", "Chu"},
    .breaks = SIGNS_TWO_INSIDE | SIGN_FOREIGN,
    .lease_ms = 800,
    .play = play,
};
