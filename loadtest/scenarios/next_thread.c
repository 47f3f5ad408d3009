/* SPDX-License-Identifier: MIT */
/* next_thread.c -- a thread ends with the lock in its hands: whose is it now? */
#include "loadtest/scenario.h"

static void play(struct stage *s)
{
    struct actor *anna = stage_actor(s, 0);

    stage_tell(s, "A thread of Anna's takes the lock, and ends.",
               "安娜的一个线程拿到锁，然后结束了。");
    actor_enter(anna);
    actor_change_thread(anna);
    stage_tell(s, "Another one takes its place, with nothing of its own.",
               "另一个线程顶替了它，两手空空。");
    if (actor_try(anna) == DLOCK_OK) {
        actor_release(anna);
        return;
    }
    stage_sign(s, SIGN_CALL_REFUSED, "the new thread is another owner");
}

static const struct scenario_expectation expected[] = {
    {.locks = "none", .outcome = SCENARIO_NOT_SPOKEN_OF},
    /* Its lease may be over by then. */
    {.locks = "lua-local", .outcome = SCENARIO_NOT_SPOKEN_OF},
    {.outcome = SCENARIO_REFUSES},
};

extern const struct scenario scenario_next_thread;

const struct scenario scenario_next_thread = {
    .name = "next-thread",
    .number = "S31",
    .title = "The thread that takes another's place",
    .title_zh = "顶替旧线程的新线程",
    .source = "the articles name owners \"uuid-thread\"; threads' numbers are used again",
    .story = {"A thread takes the lock and ends without giving it back.",
              "Another thread is born; systems give numbers away again.",
              "An owner's name that is made of such a number may fit it.",
              "A lock that allows re-entry would let the stranger in.",
              "Numbers of owners must never be used again."},
    .story_zh = {"一个线程拿到锁，没有归还就结束了。",
                 "另一个线程诞生；系统会重复使用编号。",
                 "用编号拼出来的主人名，它可能也对得上。",
                 "可重入的锁就会放陌生人进门。",
                 "主人的编号绝不能重复使用。"},
    .actors = {"Anna"},
    SCENARIO_EXPECTS(expected),
    .breaks = SIGNS_TWO_INSIDE | SIGN_TWICE,
    .lease_ms = 5000,
    .play = play,
};
