/* SPDX-License-Identifier: MIT */
/* forked.c -- the holder forks: does its child hold the lock too? */
#include "loadtest/scenario/scenario.h"

static void play(struct stage *s)
{
    struct actor *ann = stage_actor(s, 0), *bo = stage_actor(s, 1);
    dlock_status st;

    stage_tell(s, "Ann takes the lock, and her process forks.",
               "小安拿到锁，进程 fork 了。");
    actor_enter(ann);
    stage_tell(s, "The child has a copy of everything.  The child asks, and releases.",
               "子进程什么都有一份：申请锁，也释放锁。");
    st = actor_child_try(ann);
    if (st == DLOCK_INVALID && actor_child_release(ann) == DLOCK_INVALID)
        stage_sign(s, SIGN_CALL_REFUSED, "a child is another process, with no lock system");
    stage_tell(s, "Ann still holds the lock.  Bo must not get it.",
               "锁还是小安的，小博不能拿到。");
    if (actor_try_until_answered(bo) == DLOCK_OK) {
        actor_buy(bo);
        actor_release(bo);
    }
    actor_buy(ann);
    actor_release(ann);
}

const struct scenario scenario_forked = {
    .name = "forked",
    .number = "S30",
    .title = "The holder forks",
    .title_zh = "持有者 fork 了",
    .source = "known bugs of lock libraries: a child with its parent's owner and sockets",
    .story = {"Ann holds the lock when her process forks.",
              "The child has Ann's owner, her lease and her connections.",
              "If the child asks, a re-entrant lock lets it in beside Ann.",
              "If the child releases, Ann's lock is gone.",
              "So each call with what the child inherited has to be refused."},
    .story_zh = {"小安持有锁的时候，进程 fork 了。",
                 "子进程有小安的锁标识、租约和连接。",
                 "子进程若申请，可重入锁会放它进来。",
                 "子进程若释放，小安的锁就没了。",
                 "所以子进程拿继承来的东西做的每次调用，都必须拒绝。"},
    .breaks = SIGNS_TWO_INSIDE | SIGN_FOREIGN,
    .lease_ms = 5000,
    .play = play,
};
