/* SPDX-License-Identifier: MIT */
/* crash_between_two_commands.c -- SETNX is done, EXPIRE is not, and the holder is dead. */
#include "loadtest/scenario/scenario.h"

/* The lock is leased by a second command. */
static bool takes_two_commands(const struct stage *s)
{
    return stage_has(s, DLOCK_CAP_EXPIRES) && !stage_has(s, DLOCK_CAP_ATOMIC);
}

static void die_with_it(struct stage *s, struct actor *anna)
{
    if (takes_two_commands(s)) {
        stage_tell(s, "Anna's lock takes two commands, and she dies between them.",
                   "安娜的锁要发两条命令，她死在两条之间。");
        actor_arm(anna, DLOCK_FAULT_BETWEEN_SETNX_AND_EXPIRE, DLOCK_FAULT_KILL);
        actor_begin_acquire(anna, 0);
        actor_await_point(anna, DLOCK_FAULT_BETWEEN_SETNX_AND_EXPIRE);
        return;
    }
    stage_tell(s, "Anna's lock is taken and leased in one step; she dies right after it.",
               "安娜的锁一步就带上租约，她随后死去。");
    actor_enter(anna);
    actor_kill(anna);
}

static void play(struct stage *s)
{
    struct actor *anna = stage_actor(s, 0), *ben = stage_actor(s, 1);

    die_with_it(s, anna);
    stage_tell(s, "Ben asks for a lock whose holder is dead.", "本来申请一个死人的锁。");
    if (stage_store_hears_of_death(s)) {
        actor_enter(ben);
        actor_release(ben);
        return;
    }
    stage_need_in_time(s, actor_try(ben) == DLOCK_BUSY, "Anna's lease was to last");
    /* Not for longer than he needs: `watch` gives a lock without an end the waiter's
     * lease, so he waits for a lease of his own. */
    if (actor_acquire(ben, actor_finds_no_end(ben) ? 3 * stage_lease_ms(s)
                                                   : SCENARIO_STEP_MS / 2) != DLOCK_OK) {
        stage_need(s, actor_inspect(ben).left_ms == INT64_MAX,
                   "the lock is to have no end");
        stage_sign(s, SIGN_DEAD_LOCK, "its store has no time to live for it (PTTL -1)");
        return;
    }
    stage_sign(s, SIGN_LEASE_WAITED, "nobody could tell the store that she is dead");
    actor_release(ben);
}

const struct scenario scenario_crash_between_two_commands = {
    .name = "crash-between-two-commands",
    .number = "S3",
    .title = "The crash between SETNX and EXPIRE",
    .title_zh = "SETNX 之后、EXPIRE 之前宕机",
    .source = "the articles' first way to take a lock, in two commands",
    .story = {"Anna sends SETNX, which takes the lock.",
              "She dies before she sends EXPIRE.",
              "The lock has no time to live now, and its holder is dead.",
              "Ben waits, and would wait for ever.",
              "Taken and leased in one step, it would be free after a lease."},
    .story_zh = {"安娜发出 SETNX，拿到了锁。",
                 "还没发 EXPIRE，她就宕机了。",
                 "锁没有过期时间，持有者也死了。",
                 "本等着，会永远等下去。",
                 "若加锁和设过期是一步，一个租约后锁就自由了。"},
    .actors = {"Anna", "Ben"},
    .breaks = SIGNS_TWO_INSIDE,
    .play = play,
};
