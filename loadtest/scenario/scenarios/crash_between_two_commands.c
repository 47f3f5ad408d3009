/* SPDX-License-Identifier: MIT */
/* crash_between_two_commands.c -- SETNX is done, EXPIRE is not, and the holder is dead. */
#include "loadtest/scenario/scenario.h"

/* The lock is leased by a second command. */
static bool takes_two_commands(const struct stage *s)
{
    return stage_has(s, DLOCK_CAP_EXPIRES) && !stage_has(s, DLOCK_CAP_ATOMIC);
}

static void die_with_it(struct stage *s, struct actor *ann)
{
    if (takes_two_commands(s)) {
        stage_tell(s, "Ann's lock takes two commands, and Ann dies between the two.",
                   "小安的锁要发两条命令，小安死在两条之间。");
        actor_arm(ann, DLOCK_FAULT_BETWEEN_SETNX_AND_EXPIRE, DLOCK_FAULT_KILL);
        actor_begin_acquire(ann, 0);
        actor_await_point(ann, DLOCK_FAULT_BETWEEN_SETNX_AND_EXPIRE);
        return;
    }
    stage_tell(s, "Ann's lock is taken in one step, and Ann dies right after it.",
               "小安一步就拿到锁，随后死去。");
    actor_enter(ann);
    actor_kill(ann);
}

static void play(struct stage *s)
{
    struct actor *ann = stage_actor(s, 0), *bo = stage_actor(s, 1);

    die_with_it(s, ann);
    stage_tell(s, "Bo asks for a lock whose holder is dead.",
               "小博来申请锁，而锁的持有者已经死了。");
    if (stage_store_hears_of_death(s)) {
        actor_enter(bo);
        actor_release(bo);
        return;
    }
    stage_need_in_time(s, actor_try(bo) == DLOCK_BUSY, "Ann's lease was to last");
    /* Not for longer than he needs: `watch` gives a lock without an end the waiter's
     * lease, so he waits for a lease of his own. */
    if (actor_acquire(bo, actor_finds_no_end(bo) ? 3 * stage_lease_ms(s)
                                                   : SCENARIO_STEP_MS / 2) != DLOCK_OK) {
        stage_need(s, actor_inspect(bo).left_ms == INT64_MAX,
                   "the lock is to have no end");
        stage_sign(s, SIGN_DEAD_LOCK, "the store has no time to live for the lock (PTTL -1)");
        return;
    }
    stage_sign(s, SIGN_LEASE_WAITED, "nothing tells the store that Ann is dead");
    actor_release(bo);
}

const struct scenario scenario_crash_between_two_commands = {
    .name = "crash-between-two-commands",
    .number = "S3",
    .title = "The crash between SETNX and EXPIRE",
    .title_zh = "SETNX 之后、EXPIRE 之前宕机",
    .source = "the articles' first way to take a lock, in two commands",
    .story = {"Ann sends SETNX, which takes the lock.",
              "Ann dies before she sends EXPIRE.",
              "The lock has no time to live now, and its holder is dead.",
              "Bo waits, and would wait for ever.",
              "A lock that is taken and leased in one step would be free after a lease."},
    .story_zh = {"小安发出 SETNX，拿到了锁。",
                 "还没发 EXPIRE，小安就宕机了。",
                 "锁没有过期时间，持有者也死了。",
                 "小博等着，会永远等下去。",
                 "加锁和设过期若是一步，租约一到锁就空闲了。"},
    .breaks = SIGNS_TWO_INSIDE,
    .play = play,
};
