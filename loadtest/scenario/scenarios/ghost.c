/* SPDX-License-Identifier: MIT */
/* ghost.c -- the store grants the lock, and the answer is lost: the key exists, and no
 * client knows that it holds the lock. */
#include "loadtest/scenario/scenario.h"

static void play(struct stage *s)
{
    struct actor *ann = stage_actor(s, 0), *bo = stage_actor(s, 1);
    int64_t begin_ms = stage_now_ms(s);
    dlock_status st;

    stage_tell(s, "Ann asks for the lock.  The store grants it; its answer is lost.",
               "小安申请锁。存储授予了锁，应答却丢了。");
    actor_wire_asking(ann, "cut to-client");
    st = actor_try(ann);
    if (st == DLOCK_OK) {
        actor_await_wire(ann, WIRE_LOCK);
        stage_tell(s, "Ann's library asked again, and found that the lock is Ann's.",
                   "小安的锁库重新问了一遍，认出锁是小安的。");
        actor_leave(ann);
        return;
    }
    stage_need(s, st == DLOCK_UNKNOWN || st == DLOCK_IO, "Ann is not to know");
    stage_tell(s, "Ann does not have the lock.  Bo asks for it.",
               "小安没有拿到锁。小博来申请锁。");
    if (stage_store_hears_of_death(s)) {
        actor_enter(bo);
        actor_release(bo);
        return;
    }
    if (actor_try(bo) == DLOCK_OK) {
        stage_need_in_time(s, stage_now_ms(s) - begin_ms < stage_lease_ms(s) / 2,
                           "Bo was to ask long before the lease ends");
        actor_release(bo);
        return;
    }
    st = actor_finds_no_end(bo) ? actor_acquire(bo, 3 * stage_lease_ms(s))
                                 : actor_outwait(bo);
    if (st == DLOCK_OK) {
        stage_sign(s, SIGN_LEASE_WAITED, "nobody held the lock, and nobody could have it");
        actor_leave(bo);
        return;
    }
    stage_need(s, actor_inspect(bo).left_ms == INT64_MAX, "the lock is to have no end");
    stage_sign(s, SIGN_DEAD_LOCK, "Ann never sent the EXPIRE that was to follow");
}

const struct scenario scenario_ghost = {
    .name = "ghost",
    .number = "S6",
    .title = "Granted, but no client knows it",
    .title_zh = "锁给出去了，却没有客户端知道",
    .source = "known bugs of lock libraries: no answer taken for a refusal",
    .story = {"Ann asks for the lock, and the store grants it.",
              "The connection breaks, and the answer is lost.",
              "Ann believes that she has no lock; the store has it as Ann's.",
              "Nobody holds the lock, and Bo is refused.",
              "A library that knows its own owner frees the lock before it reports."},
    .story_zh = {"小安申请锁，存储授予了锁。",
                 "连接断开，应答丢了。",
                 "小安以为没拿到锁，存储却记着锁是小安的。",
                 "没有人持有锁，小博却被拒绝。",
                 "认得自己锁标识的库，会先释放锁再报告。"},
    .breaks = SIGNS_TWO_INSIDE,
    .play = play,
};
