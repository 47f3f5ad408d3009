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
               "小安申请锁。锁已授予，应答却来得慢。");
    slow_down(s, ann, "hold to-client");
    actor_begin_acquire(ann, 0);
    actor_await_wire(ann, WIRE_LOCK);
    stage_tell(s, "Ann's lease ends while the answer is on its way.  Bo takes the lock.",
               "应答还在路上，小安的租约就到期了。小博拿到了锁。");
    stage_need(s, actor_outwait(bo) == DLOCK_OK, "Bo is to get in after Ann's lease");
    actor_read(bo);
    stage_tell(s, "Now Ann is told that the lock was granted.  Does Ann's library "
                  "believe it?",
               "这时小安才得知锁已授予。小安的锁库会信吗？");
    slow_down(s, ann, "release to-client");
    if (actor_end(ann) == DLOCK_OK)
        actor_buy(ann);
    else
        stage_sign(s, SIGN_CALL_REFUSED, "a grant is refused whose lease is over when it arrives");
    stage_tell(s, "Does Bo still hold the lock alone?  Chu asks for it.",
               "锁还只在小博手里吗？小楚来申请锁。");
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
    .title = "Granted, and over before the answer came",
    .title_zh = "应答到时，锁已经过期",
    .source = "the articles' step of Redlock that subtracts the time it took",
    .story = {"Ann asks for the lock: of one server, or of a majority.",
              "The lock is granted, but the answer takes longer than the lease.",
              "Bo holds the lock by the time that Ann is told \"granted\".",
              "A lease has to be counted from the request, and not from the answer.",
              "What Ann gives back then must not be Bo's lock."},
    .story_zh = {"小安申请锁：向一台服务器，或者向多数派。",
                 "锁授予了小安，应答在路上走得比租约还久。",
                 "等小安得知“加锁成功”，小博已经持有锁。",
                 "租约要从请求发出时算起，不能从收到应答时算起。",
                 "小安这时归还，不能把小博的锁还掉。"},
    .actors = {"Ann", "Bo", "Chu"},
    .breaks = SIGNS_TWO_INSIDE | SIGN_OVERSOLD,
    .store_timeout_ms = 9000,
    .play = play,
};
