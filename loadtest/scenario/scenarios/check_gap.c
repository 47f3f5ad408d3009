/* SPDX-License-Identifier: MIT */
/* check_gap.c -- the lock gets a new holder between the check of the owner and the delete
 * of the key. */
#include "loadtest/scenario/scenario.h"

/* Begin Ann's release, and stop it between its check and its delete.  A lock that does
 * both in one request has no such point: then hold the request on its way to the server.
 */
static void begin_release(struct actor *ann, bool has_gap)
{
    if (has_gap) {
        actor_arm(ann, DLOCK_FAULT_BETWEEN_CHECK_AND_DELETE, DLOCK_FAULT_HOLD);
        actor_begin_release(ann);
        actor_await_point(ann, DLOCK_FAULT_BETWEEN_CHECK_AND_DELETE);
        return;
    }
    actor_wire(ann, WIRE_LOCK, "hold to-server");
    actor_begin_release(ann);
    actor_await_wire(ann, WIRE_LOCK);
}

static void end_release(struct actor *ann, bool has_gap)
{
    if (has_gap)
        actor_let_go(ann, DLOCK_FAULT_BETWEEN_CHECK_AND_DELETE);
    else
        actor_wire(ann, WIRE_LOCK, "release to-server");
    actor_end(ann);
}

static void play(struct stage *s)
{
    struct actor *ann = stage_actor(s, 0), *bo = stage_actor(s, 1),
                 *chu = stage_actor(s, 2);
    bool has_gap = lock_has_check_gap(stage_lock(s));

    stage_tell(s,
               has_gap ? "Ann takes the lock.  Her release checks that it is hers: it is."
                       : "Ann takes the lock.  Her release checks and deletes in one step.",
               has_gap ? "小安拿到锁。释放时先判断锁是不是自己的：是。"
                       : "小安拿到锁。释放时判断与删除是一步。");
    actor_enter(ann);
    stage_need_in_time(s, actor_is_protected(ann), "Ann's lease was to last");
    begin_release(ann, has_gap);
    stage_tell(s, "Before the delete, Ann's lease ends.  Bo takes the lock.",
               "还没删除，小安的租约就到期了。小博拿到了锁。");
    stage_need(s, actor_outwait(bo) == DLOCK_OK, "Bo is to get in after Ann's lease");
    stage_tell(s, "Ann's release goes on.  Is the lock still Bo's?  Chu asks for it.",
               "小安的释放接着执行。锁还在小博手里吗？小楚来申请锁。");
    end_release(ann, has_gap);
    if (actor_try_until_answered(chu) == DLOCK_OK) {
        stage_need_in_time(s, actor_is_protected(bo), "Bo's own lease was to last");
        actor_read(bo);
        actor_buy(chu);
        actor_buy(bo);
        actor_release(chu);
    }
    actor_release(bo);
}

const struct scenario scenario_check_gap = {
    .name = "check-gap",
    .number = "S4b",
    .title = "The pause between the check and the delete",
    .title_zh = "判断和删除之间的停顿",
    .source = "the articles' second optimisation: why the release has to be one script",
    .story = {"Ann's release reads the owner of the lock: it is Ann.",
              "Ann pauses before the DEL, and her lease ends.",
              "Bo takes the lock.",
              "Ann has checked already, and deletes Bo's lock; Chu gets it while Bo works.",
              "Check and delete have to be one step: a script, or WATCH and EXEC."},
    .story_zh = {"小安释放锁，先读锁标识：是小安自己的。",
                 "还没发出 DEL，小安停顿了一下，租约到期。",
                 "小博拿到了锁。",
                 "小安已经判断过，便删掉了小博的锁，小楚也拿到了锁。",
                 "判断和删除必须是一步：Lua 脚本，或 WATCH 加 EXEC。"},
    .actors = {"Ann", "Bo", "Chu"},
    .breaks = SIGN_TWO_HOLDERS,
    .lease_ms = 800,
    .store_timeout_ms = 8000,
    .play = play,
};
