/* SPDX-License-Identifier: MIT */
/* slow_answer.c -- the lock is granted, and over before the holder hears of it. */
#include "loadtest/scenario/scenario.h"

enum { MAJORITY = 3, LAST_NODE = 4 };

/* Delay the answers of the servers that decide. */
static void slow_down(struct stage *s, struct actor *anna, const char *fault)
{
    if (stage_has(s, DLOCK_CAP_QUORUM)) {
        for (int node = 0; node < MAJORITY; node++)
            actor_wire_node(anna, node, fault);
    } else if (stage_store(s) == DLOCK_STORE_REDIS_NODES) {
        actor_wire_node(anna, LAST_NODE, fault); /* it asks the first one alone, first */
    } else {
        actor_wire(anna, WIRE_LOCK, fault);
    }
}

static void play(struct stage *s)
{
    struct actor *anna = stage_actor(s, 0), *ben = stage_actor(s, 1),
                 *chen = stage_actor(s, 2);

    stage_tell(s, "Anna asks for the lock.  It is granted; the answer is slow.",
               "安娜申请锁。锁给她了，应答却来得慢。");
    slow_down(s, anna, "hold to-client");
    actor_begin_acquire(anna, 0);
    actor_await_wire(anna, WIRE_LOCK);
    stage_tell(s, "Her lease ends while the answer is under way.  Ben takes the lock.",
               "应答还在路上，她的租约就到期了。本拿到了锁。");
    stage_need(s, actor_outwait(ben) == DLOCK_OK, "Ben is to get in after Anna's lease");
    actor_read(ben);
    stage_tell(s, "Now she hears that it was granted.  Does she believe it?",
               "这时她才听说锁给了她。她会信吗？");
    slow_down(s, anna, "release to-client");
    if (actor_end(anna) == DLOCK_OK)
        actor_buy(anna);
    else
        stage_sign(s, SIGN_CALL_REFUSED, "what is over when it arrives is no grant");
    stage_tell(s, "She gives back what she had.  Is Ben still alone?  Chen asks.",
               "她把拿到的还了回去。本还是独自一人吗？陈来申请。");
    if (actor_try(chen) == DLOCK_OK) {
        stage_need_in_time(s, actor_is_protected(ben), "Ben's own lease was to last");
        actor_buy(chen);
        actor_release(chen);
    }
    actor_buy(ben);
    actor_release(ben);
}

const struct scenario scenario_slow_answer = {
    .name = "slow-answer",
    .number = "S17",
    .title = "Granted, and over before she heard",
    .title_zh = "等听到拿到锁，锁已经过期",
    .source = "the articles' step of Redlock that subtracts the time it took",
    .story = {"Anna asks for the lock: of one server, or of a majority.",
              "It is granted, but the answer takes longer than the lease.",
              "Ben is inside by the time that she hears \"granted\".",
              "Who counts from the answer believes it; count from the request.",
              "And what she gives back then must not be Ben's."},
    .story_zh = {"安娜申请锁：向一台，或者向多数。",
                 "锁给了她，应答在路上走得比租约还久。",
                 "等她听到“给你了”，本已经在里面了。",
                 "从应答起算的人会信以为真，该从请求发出时起算。",
                 "而且她这时归还，不能把本的锁还掉。"},
    .actors = {"Anna", "Ben", "Chen"},
    .breaks = SIGNS_TWO_INSIDE | SIGN_OVERSOLD,
    .store_timeout_ms = 9000,
    .play = play,
};
