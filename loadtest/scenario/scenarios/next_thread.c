/* SPDX-License-Identifier: MIT */
/* next_thread.c -- a thread ends without a release, and a new thread gets its thread id.
 */
#include "loadtest/scenario/scenario.h"

/* Let Bo wait until a lease would have ended.  A lock without a lease stays, however long
 * Bo waits, so half a lease is enough. */
static dlock_status wait_for_it(struct stage *s, struct actor *bo)
{
    return actor_acquire(bo, stage_has(s, DLOCK_CAP_EXPIRES)
                                  ? 4 * (int64_t)stage_lease_ms(s)
                                  : stage_lease_ms(s) / 2);
}

static void play(struct stage *s)
{
    struct actor *ann = stage_actor(s, 0), *bo = stage_actor(s, 1);
    dlock_info info;

    stage_tell(s, "A thread of Ann's takes the lock and ends without a release.",
               "小安的一个线程拿到锁，没释放就结束了。");
    actor_enter(ann);
    stage_tell(s, "A new thread gets the id of the old one, and asks for the lock.",
               "新线程得到了同一个线程 id，也来申请锁。");
    actor_change_thread(ann);
    if (actor_try(ann) == DLOCK_OK) {
        stage_tell(s, "The new thread is taken for the thread that ended.",
                   "新线程被当成了那个已结束的线程。");
        actor_release(ann);
        return;
    }
    stage_tell(s, "The new thread is not the same, and is refused.  Bo waits.",
               "新线程不是原来的线程，被拒绝了。小博在等。");
    if (wait_for_it(s, bo) == DLOCK_OK) {
        stage_need_in_time(s, !stage_has(s, DLOCK_CAP_SESSION),
                           "the session was to last");
        stage_sign(s, SIGN_LEASE_WAITED, "nobody renews for a thread that has ended");
        actor_leave(bo);
        return;
    }
    info = actor_inspect(bo);
    stage_need_in_time(s, info.locked, "the session was to last");
    stage_need(s, info.left_ms == INT64_MAX, "the lock is to have no end");
    stage_sign(s, SIGN_DEAD_LOCK, "the lock belongs to the session, and the process still runs");
}

const struct scenario scenario_next_thread = {
    .name = "next-thread",
    .number = "S31",
    .title = "The thread id that is used again",
    .title_zh = "被重复使用的线程 id",
    .source = "owner ids of process and thread, as in the articles' re-entrant lock",
    .story = {"A thread takes the lock and ends; nobody can release it any more.",
              "The system gives its id to the next thread.",
              "If the thread id were the owner, the new thread would be let in.",
              "An owner that is never used again keeps the new thread out.",
              "A lease ends the lock later; a lock that belongs to a session stays."},
    .story_zh = {"一个线程拿到锁就结束了，再没人能释放它。",
                 "系统把它的线程 id 给了下一个线程。",
                 "若拿线程 id 当锁标识，新线程就会被放行。",
                 "从不重复使用的锁标识能把新线程挡住。",
                 "之后租约会结束这把锁；属于会话的锁却留着。"},
    .breaks = SIGNS_TWO_INSIDE | SIGN_TWICE,
    .lease_ms = 1200,
    .play = play,
};
