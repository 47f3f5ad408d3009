/* SPDX-License-Identifier: MIT */
/* slow_answer.c -- the answer to an acquire arrives after the lease that it grants has
 * ended. */
#include "loadtest/scenario/scenario.h"

enum { MAJORITY = 3, LAST_NODE = 4 };

/* Delay the answers of the servers that decide. */
static void slow_down(struct stage *s, struct actor *ann, const char *fault)
{
    if (stage_has(s, DLOCK_CAP_QUORUM)) {
        for (int node = 0; node < MAJORITY; node++)
            actor_wire_node(ann, node, fault);
    } else if (stage_store(s) == DLOCK_STORE_REDIS_NODES) {
        actor_wire_node(ann, LAST_NODE, fault); /* multi asks this node alone, first */
    } else {
        actor_wire(ann, WIRE_LOCK, fault);
    }
}

static void play(struct stage *s)
{
    struct actor *ann = stage_actor(s, 0), *bo = stage_actor(s, 1),
                 *chu = stage_actor(s, 2);

    stage_tell(s, "Ann asks for the lock.  The lock is granted; the answer is slow.",
               "小安申请锁。锁给她了，应答却来得慢。");
    slow_down(s, ann, "hold to-client");
    actor_begin_acquire(ann, 0);
    actor_await_wire(ann, WIRE_LOCK);
    stage_tell(s, "Her lease ends while the answer is under way.  Bo takes the lock.",
               "应答还在路上，她的租约就到期了。小博拿到了锁。");
    stage_need(s, actor_outwait(bo) == DLOCK_OK, "Bo is to get in after Ann's lease");
    actor_read(bo);
    stage_tell(s, "Now she hears that the lock was granted.  Does she believe it?",
               "这时她才听说锁给了她。她会信吗？");
    slow_down(s, ann, "release to-client");
    if (actor_end(ann) == DLOCK_OK)
        actor_buy(ann);
    else
        stage_sign(s, SIGN_CALL_REFUSED, "what is over when it arrives is no grant");
    stage_tell(s, "She gives back what she had.  Is Bo still alone?  Chu asks.",
               "她把拿到的还了回去。小博还是独自一人吗？小楚来申请。");
    if (actor_try(chu) == DLOCK_OK) {
        stage_need_in_time(s, actor_is_protected(bo), "Bo's own lease was to last");
        actor_buy(chu);
        actor_release(chu);
    }
    actor_buy(bo);
    actor_release(bo);
}

const struct scenario scenario_slow_answer = {
    .name = "slow-answer",
    .number = "S17",
    .title = "Granted, and over before she heard",
    .title_zh = "等听到拿到锁，锁已经过期",
    .source = "the articles' step of Redlock that subtracts the time it took",
    .story = {"Ann asks for the lock: of one server, or of a majority.",
              "It is granted, but the answer takes longer than the lease.",
              "Bo is inside by the time that she hears \"granted\".",
              "Who counts from the answer believes it; count from the request.",
              "And what she gives back then must not be Bo's."},
    .story_zh = {"小安申请锁：向一台，或者向多数。",
                 "锁给了她，应答在路上走得比租约还久。",
                 "等她听到“给你了”，小博已经在里面了。",
                 "从应答起算的人会信以为真，该从请求发出时起算。",
                 "而且她这时归还，不能把小博的锁还掉。"},
    .actors = {"Ann", "Bo", "Chu"},
    .breaks = SIGNS_TWO_INSIDE | SIGN_OVERSOLD,
    .store_timeout_ms = 9000,
    .play = play,
};
