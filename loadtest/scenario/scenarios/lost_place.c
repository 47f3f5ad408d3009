/* SPDX-License-Identifier: MIT */
/* lost_place.c -- a place in the queue was made, and the answer was lost. */
#include "loadtest/scenario/scenario.h"

/* Wait until the store has carried out Ann's request.  Bo reads the state of the lock,
 * because Ann's answers are held back. */
static void await_done(struct stage *s, struct actor *bo, bool queues)
{
    int64_t by_ms = stage_now_ms(s) + SCENARIO_STEP_MS;
    dlock_info info = actor_inspect(bo);

    while (queues ? info.waiter_count < 1 : !info.locked) {
        stage_need(s, stage_now_ms(s) < by_ms, "what Ann asked for is to be done");
        stage_pass_ms(s, 2);
        info = actor_inspect(bo);
    }
}

static void play(struct stage *s)
{
    struct actor *ann = stage_actor(s, 0), *bo = stage_actor(s, 1),
                 *chu = stage_actor(s, 2);
    bool queues = stage_has(s, DLOCK_CAP_FAIR);

    if (queues) {
        stage_tell(s, "Bo has the lock.", "小博拿着锁。");
        actor_enter(bo);
    }
    actor_wire_asking(ann, "hold to-client");
    actor_begin_acquire(ann, SCENARIO_STEP_MS / 2);
    actor_await_wire(ann, WIRE_LOCK);
    stage_tell(s, "Ann asks, and her node is made: a place in line, or the lock itself.",
               "小安来申请，她的节点建好了：一个排队的号，或者锁本身。");
    await_done(s, bo, queues);
    stage_tell(s, "The answer is lost with the connection: she does not know.",
               "应答随连接一起丢了：她并不知道。");
    actor_cut_wire(ann, WIRE_LOCK);
    if (queues) {
        stage_tell(s, "Bo leaves.", "小博走了。");
        actor_leave(bo);
    }
    if (actor_end(ann) == DLOCK_OK) {
        stage_tell(s, "Her library has found what is hers, and she is in.",
                   "她的库找回了属于她的节点，她进来了。");
        actor_leave(ann);
    } else {
        stage_tell(s, "She has given up.  Does the queue know that?",
                   "她放弃了。队列知道吗？");
    }
    if (actor_try(chu) != DLOCK_OK) {
        actor_enter(chu);
        stage_sign(s, SIGN_LEASE_WAITED, "a place was left that belongs to nobody");
    }
    actor_leave(chu);
}

const struct scenario scenario_lost_place = {
    .name = "lost-place",
    .number = "S7",
    .title = "The place in the queue that nobody knows",
    .title_zh = "排上了号，却没人知道",
    .source = "ZOOKEEPER-1262: create() was done, its answer lost",
    .story = {"Bo has the lock; Ann asks to be put in the queue.",
              "The store makes her node, and the connection breaks before its answer.",
              "She connects again.  Which node is hers?  She was never told.",
              "If she makes a second one, the first blocks everybody behind it.",
              "A node that bears its maker's own mark is found, or taken away."},
    .story_zh = {"小博拿着锁，小安申请排队。",
                 "存储建好了她的节点，应答之前连接断了。",
                 "她重新连上。哪个节点是她的？没人告诉过她。",
                 "她若再建一个，前一个会挡住后面所有人。",
                 "节点上带着创建者自己的标记，就能找回来，或删掉。"},
    .actors = {"Ann", "Bo", "Chu"},
    .breaks = SIGNS_TWO_INSIDE | SIGN_TWICE,
    .lease_ms = 2000,
    .play = play,
};
