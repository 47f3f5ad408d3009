/* SPDX-License-Identifier: MIT */
/* frozen_waiter.c -- the lease of a waiter ends while its process stands still: nobody is before
 * its key then, for the key is gone. */
#include "loadtest/scenario/scenario.h"

/* Until the store has only Ann's hold. */
static void await_nobody_waits(struct stage *s, struct actor *looker)
{
    int64_t by_ms = stage_now_ms(s) + SCENARIO_STEP_MS;

    while (actor_inspect(looker).waiter_count != 0) {
        stage_need(s, stage_now_ms(s) < by_ms, "Bo's place in the queue is to end");
        stage_pass_ms(s, 10);
    }
}

/* Bo goes on: he gets in, or lines up anew. */
static bool is_in_at_once(struct stage *s, struct actor *bo, struct actor *looker)
{
    int64_t by_ms = stage_now_ms(s) + SCENARIO_STEP_MS;

    while (!actor_has_ended(bo) && actor_inspect(looker).waiter_count < 1) {
        stage_need(s, stage_now_ms(s) < by_ms, "Bo is to ask for the lock again");
        stage_pass_ms(s, 10);
    }
    return actor_has_ended(bo) && actor_end(bo) == DLOCK_OK;
}

static void play(struct stage *s)
{
    struct actor *ann = stage_actor(s, 0), *bo = stage_actor(s, 1), *chu = stage_actor(s, 2);

    stage_tell(s, "Ann has the lock.  Bo waits behind Ann, with a key and a lease of "
                  "Bo's own.",
               "小安拿着锁。小博排在后面，有自己的键和租约。");
    actor_enter(ann);
    actor_begin_acquire(bo, 2 * SCENARIO_STEP_MS);
    actor_await_waiting(bo);
    stage_tell(s, "Bo's process stops for longer than Bo's lease, and etcd deletes "
                  "Bo's key.",
               "小博的进程停得比租约还久，etcd 删掉了小博的键。");
    actor_stop(bo);
    await_nobody_waits(s, chu);
    stage_tell(s, "Ann releases the lock.  Chu takes it and sees that one voucher is "
                  "left.",
               "小安释放锁。小楚拿到锁，看到还剩一张券。");
    actor_leave(ann);
    actor_enter(chu);
    actor_read(chu);
    stage_tell(s, "Bo's process goes on.  No key is before Bo's, and Bo's own key is "
                  "gone.",
               "小博的进程恢复。前面没有别的键，可小博自己的键也没了。");
    actor_continue(bo);
    if (is_in_at_once(s, bo, chu)) {
        stage_tell(s, "Bo takes that for his turn, and works beside Chu.",
                   "小博以为轮到了自己，与小楚同时干活。");
        actor_buy(bo);
        actor_buy(chu);
        actor_release(bo);
        actor_release(chu);
        return;
    }
    stage_tell(s, "Bo has queued anew.  Chu buys and releases, and only then Bo gets "
                  "the lock.",
               "小博重新排了队。小楚买完释放锁，小博这才拿到锁。");
    actor_buy(chu);
    actor_leave(chu);
    stage_need(s, actor_end(bo) == DLOCK_OK, "Bo is to get in");
    actor_buy(bo);
    actor_leave(bo);
}

const struct scenario scenario_frozen_waiter = {
    .name = "frozen-waiter",
    .number = "S42",
    .title = "A lease in etcd is lost while its process is frozen",
    .title_zh = "进程冻住时，etcd 里的租约没了",
    .source = "etcd-io/etcd#11456: a lock is granted on a lease that has ended",
    .story = {"Bo waits for Ann's lock with a key whose lease Bo's process renews.",
              "Bo's process stops.  The lease ends, and etcd deletes the key.",
              "Ann releases the lock, and Chu takes it.",
              "Bo's process goes on, and looks for a key before its own: there is none.",
              "A waiter has to see its own key, too, before it takes the lock."},
    .story_zh = {"小博等小安的锁，小博的键靠进程续期。",
                 "小博的进程停住，租约到期，etcd 删掉了键。",
                 "小安释放锁，小楚拿到锁。",
                 "小博的进程恢复，看前面还有没有键：没有。",
                 "等待者要先看见自己的键还在，才能拿锁。"},
    .actors = {"Ann", "Bo", "Chu"},
    .breaks = SIGNS_TWO_INSIDE,
    .lease_ms = 1500,
    .play = play,
};
