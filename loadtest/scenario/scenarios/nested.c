/* SPDX-License-Identifier: MIT */
/* nested.c -- a method that holds the lock calls itself. */
#include "loadtest/scenario/scenario.h"

/* Ann was let in a second time: is the lock held until the second release? */
static void leave_twice(struct stage *s, struct actor *ann, struct actor *bo)
{
    stage_tell(s, "The inner call gets the lock, too.  It ends, and releases once.",
               "内层调用也拿到锁，结束时释放一次。");
    actor_leave(ann);
    stage_tell(s, "The outer call is still at work.  Bo must not get the lock.",
               "外层还在干活，小博不能拿到锁。");
    if (actor_try(bo) == DLOCK_OK) {
        actor_release(bo);
        actor_release(ann);
        return;
    }
    actor_leave(ann);
    actor_enter(bo);
    actor_leave(bo);
}

static void play(struct stage *s)
{
    struct actor *ann = stage_actor(s, 0), *bo = stage_actor(s, 1);

    stage_tell(s, "A method of Ann's takes the lock.", "小安的一个方法拿到了锁。");
    actor_enter(ann);
    stage_tell(s, "The method calls itself, and asks for the lock again.",
               "这个方法调用自己，再次申请锁。");
    if (actor_try(ann) == DLOCK_OK) {
        leave_twice(s, ann, bo);
        return;
    }
    stage_sign(s, SIGN_CALL_REFUSED, "had Ann waited, Ann would wait for herself");
    actor_leave(ann);
}

const struct scenario scenario_nested = {
    .name = "nested",
    .number = "S36",
    .title = "The method that calls itself",
    .title_zh = "调用自己的方法",
    .source = "the articles on re-entry: method1 holds the lock and calls method2",
    .story = {"method1 takes the lock and calls method2.",
              "method2 asks for the same lock, in the same thread.",
              "A lock that is not re-entrant refuses: method2 would wait for method1.",
              "A re-entrant lock counts, and is free after the last release.",
              "After the first release the lock is still held: Bo must not get it."},
    .story_zh = {"method1 拿到锁，然后调用 method2。",
                 "method2 在同一线程里申请同一把锁。",
                 "不可重入的锁会拒绝：method2 若等，就是等 method1，自己锁死自己。",
                 "可重入锁会计数，最后一次释放后才空闲。",
                 "第一次释放后锁还被持有：小博不能拿到。"},
    .breaks = SIGNS_TWO_INSIDE | SIGN_TWICE,
    .lease_ms = 5000,
    .play = play,
};
