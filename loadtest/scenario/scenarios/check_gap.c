/* SPDX-License-Identifier: MIT */
/* check_gap.c -- "it is mine", says the check; by the time of the delete it is not. */
#include "loadtest/scenario/scenario.h"

/* Anna's release is under way: past its check where that is a step of its own, else in
 * the network, with check and delete in one. */
static void begin_release(struct actor *anna, bool has_gap)
{
    if (has_gap) {
        actor_arm(anna, DLOCK_FAULT_BETWEEN_CHECK_AND_DELETE, DLOCK_FAULT_HOLD);
        actor_begin_release(anna);
        actor_await_point(anna, DLOCK_FAULT_BETWEEN_CHECK_AND_DELETE);
        return;
    }
    actor_wire(anna, WIRE_LOCK, "hold to-server");
    actor_begin_release(anna);
    actor_await_wire(anna, WIRE_LOCK);
}

static void end_release(struct actor *anna, bool has_gap)
{
    if (has_gap)
        actor_let_go(anna, DLOCK_FAULT_BETWEEN_CHECK_AND_DELETE);
    else
        actor_wire(anna, WIRE_LOCK, "release to-server");
    actor_end(anna);
}

static void play(struct stage *s)
{
    struct actor *anna = stage_actor(s, 0), *ben = stage_actor(s, 1),
                 *chen = stage_actor(s, 2);
    bool has_gap = lock_has_check_gap(stage_lock(s));

    stage_tell(s, "Anna is done.  She looks whether the lock is hers: it is.",
               "安娜干完了。她看了看锁是不是自己的：是。");
    actor_enter(anna);
    stage_need_in_time(s, actor_is_protected(anna), "Anna's lease was to last");
    begin_release(anna, has_gap);
    stage_tell(s, "She pauses.  Her lease ends, and Ben takes the lock.",
               "她停顿了一下。租约到期，本拿到了锁。");
    stage_need(s, actor_outwait(ben) == DLOCK_OK, "Ben is to get in after Anna's lease");
    stage_tell(s, "Anna goes on, and deletes the lock that she has looked at.",
               "安娜接着往下走，删掉她刚看过的那把锁。");
    end_release(anna, has_gap);
    if (actor_try(chen) == DLOCK_OK) {
        stage_need_in_time(s, actor_is_protected(ben), "Ben's own lease was to last");
        actor_read(ben);
        actor_buy(chen);
        actor_buy(ben);
        actor_release(chen);
    }
    actor_release(ben);
}

const struct scenario scenario_check_gap = {
    .name = "check-gap",
    .number = "S4b",
    .title = "The pause between the check and the delete",
    .title_zh = "判断和删除之间的停顿",
    .source = "the articles' second optimisation: why the release has to be one script",
    .story = {"Anna reads the lock's owner: it is she.",
              "Before she sends her DEL she pauses; her lease ends.",
              "Ben takes the lock.",
              "Anna deletes it, for she has checked; Chen walks in beside Ben.",
              "Check and delete have to be one step: a script, or WATCH and EXEC."},
    .story_zh = {"安娜读出锁的主人：是她自己。",
                 "发出 DEL 之前她停了一下，租约到期。",
                 "本拿到了锁。",
                 "安娜既已判断过，便删了锁，陈走进来与本并肩。",
                 "判断和删除必须是一步：Lua 脚本，或 WATCH 加 EXEC。"},
    .actors = {"Anna", "Ben", "Chen"},
    .breaks = SIGN_TWO_HOLDERS,
    .lease_ms = 800,
    .store_timeout_ms = 8000,
    .play = play,
};
