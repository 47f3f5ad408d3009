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
        stage_need(s, stage_now_ms(s) < by_ms, "the store is to carry out Ann's request");
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
    stage_tell(s, "Ann asks, and her node is made: a place in the queue, or the lock "
                  "itself.",
               "小安来申请，存储建好了节点：排队的位置，或者锁本身。");
    await_done(s, bo, queues);
    stage_tell(s, "The connection breaks, and the answer is lost: Ann does not know "
                  "of the node.",
               "连接断开，应答丢了：小安并不知道有这个节点。");
    actor_cut_wire(ann, WIRE_LOCK);
    if (queues) {
        stage_tell(s, "Bo releases the lock.", "小博释放锁。");
        actor_leave(bo);
    }
    if (actor_end(ann) == DLOCK_OK) {
        stage_tell(s, "Ann's library has found Ann's node, and Ann has the lock.",
                   "小安的锁库找回了小安的节点，小安拿到了锁。");
        actor_leave(ann);
    } else {
        stage_tell(s, "Ann has given up.  Is her place still in the queue?",
                   "小安放弃了。队列里还留着小安的位置吗？");
    }
    if (actor_try(chu) != DLOCK_OK) {
        actor_enter(chu);
        stage_sign(s, SIGN_LEASE_WAITED, "a place in the queue was left to nobody");
    }
    actor_leave(chu);
}

const struct scenario scenario_lost_place = {
    .name = "lost-place",
    .number = "S7",
    .title = "The place in the queue that its client does not know",
    .title_zh = "排上了号，客户端却不知道",
    .source = "ZOOKEEPER-1262: create() was done, its answer lost",
    .story = {"Bo has the lock; Ann asks to be put in the queue.",
              "The store makes Ann's node, and the connection breaks before the answer.",
              "Ann connects again, and does not know which node is hers.",
              "If Ann makes a second node, the first one blocks everybody behind it.",
              "A node that bears its maker's own mark is found, or deleted."},
    .story_zh = {"小博拿着锁，小安申请排队。",
                 "存储建好了小安的节点，应答之前连接断了。",
                 "小安重新连上，却不知道哪个节点是自己的。",
                 "小安若再建一个，前一个会挡住后面所有人。",
                 "节点上带着创建者自己的标记，就能找回来，或删掉。"},
    .actors = {"Ann", "Bo", "Chu"},
    .breaks = SIGNS_TWO_INSIDE | SIGN_TWICE,
    .lease_ms = 2000,
    .play = play,
};
