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
               "小安申请锁。存储给了她，应答却丢了。");
    actor_wire_asking(ann, "cut to-client");
    st = actor_try(ann);
    if (st == DLOCK_OK) {
        stage_tell(s, "Her library asked again, and found that what is there is hers.",
                   "她的库重新问了一遍，认出那就是她的。");
        actor_leave(ann);
        return;
    }
    stage_need(s, st == DLOCK_UNKNOWN || st == DLOCK_IO, "Ann is not to know");
    stage_tell(s, "She does not have it.  Does anybody?  Bo tries.",
               "她没有锁。那么谁有？小博来试试。");
    if (stage_store_hears_of_death(s)) {
        actor_enter(bo);
        actor_release(bo);
        return;
    }
    if (actor_try(bo) == DLOCK_OK) {
        stage_need_in_time(s, stage_now_ms(s) - begin_ms < stage_lease_ms(s) / 2,
                           "he was to ask long before the lease ends");
        actor_release(bo);
        return;
    }
    st = actor_finds_no_end(bo) ? actor_acquire(bo, 3 * stage_lease_ms(s))
                                 : actor_outwait(bo);
    if (st == DLOCK_OK) {
        stage_sign(s, SIGN_LEASE_WAITED, "nobody held it, and nobody could have it");
        actor_leave(bo);
        return;
    }
    stage_need(s, actor_inspect(bo).left_ms == INT64_MAX, "the lock is to have no end");
    stage_sign(s, SIGN_DEAD_LOCK, "Ann never sent the EXPIRE that was to follow");
}

const struct scenario scenario_ghost = {
    .name = "ghost",
    .number = "S6",
    .title = "The ghost: granted, but nobody was told",
    .title_zh = "幽灵锁：给出去了，却没人知道",
    .source = "known bugs of lock libraries: no answer taken for a refusal",
    .story = {"Ann asks for the lock, and the store grants it.",
              "The answer is lost: the connection breaks.",
              "Ann goes home without the lock; the store has it as hers.",
              "Nobody holds it, and Bo is refused.",
              "A library that knows its own token frees it before it reports."},
    .story_zh = {"小安申请锁，存储给了她。",
                 "应答丢了：连接断开。",
                 "小安空手而归，存储却记着锁是她的。",
                 "没有人持有锁，小博却被拒绝。",
                 "认得自己令牌的库，会先把它释放再报告。"},
    .actors = {"Ann", "Bo"},
    .breaks = SIGNS_TWO_INSIDE,
    .play = play,
};
