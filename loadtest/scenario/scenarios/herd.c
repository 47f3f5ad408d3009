/* SPDX-License-Identifier: MIT */
/* herd.c -- six processes wait for one lock, and each release wakes all of them, or the
 * next in the queue. */
#include "loadtest/scenario/scenario.h"

enum { WAITERS = 6 };

/* The waiter whose acquire has returned; -1: none yet. */
static int find_entered(struct stage *s, const bool *has_left)
{
    for (int i = 0; i < WAITERS; i++)
        if (!has_left[i] && actor_has_ended(stage_actor(s, 1 + i)))
            return i;
    return -1;
}

static int await_entered(struct stage *s, const bool *has_left)
{
    int64_t by_ms = stage_now_ms(s) + SCENARIO_STEP_MS;
    int i;

    for (i = find_entered(s, has_left); i < 0; i = find_entered(s, has_left)) {
        stage_need(s, stage_now_ms(s) < by_ms, "one of those who wait is to get in");
        stage_pass_ms(s, 2);
    }
    stage_need(s, actor_end(stage_actor(s, 1 + i)) == DLOCK_OK, "who waits gets in");
    return i;
}

static void play(struct stage *s)
{
    struct actor *ann = stage_actor(s, 0);
    /* An unfair lock tells every waiting process of a release; a fair lock tells the next
     * waiter. */
    bool is_broadcast = !stage_has(s, DLOCK_CAP_FAIR);
    bool has_left[WAITERS] = {false};

    stage_tell(s, "Ann has the lock.  Six others come and wait.",
               "小安拿着锁，又来了六个人等着。");
    actor_enter(ann);
    for (int i = 0; i < WAITERS; i++) {
        actor_begin_acquire(stage_actor(s, 1 + i), SCENARIO_STEP_MS);
        actor_await_waiting(stage_actor(s, 1 + i));
    }
    actor_leave(ann);
    for (int served = 0; served < WAITERS; served++) {
        int i = await_entered(s, has_left);

        has_left[i] = true;
        for (int j = 0; is_broadcast && j < WAITERS; j++)
            if (!has_left[j])
                actor_await_woken(stage_actor(s, 1 + j), served + 1);
        if (served == 0)
            stage_tell(s, is_broadcast
                              ? "All have woken and asked; one is in, five wait again."
                              : "One waiter has woken and is in; the others were left asleep.",
                       is_broadcast ? "所有人都醒来问了一遍：一个进去，五个接着等。"
                                    : "只有一个人醒来进去，其他人还在睡。");
        actor_leave(stage_actor(s, 1 + i));
    }
}

const struct scenario scenario_herd = {
    .name = "herd",
    .number = "S37",
    .title = "The herd that wakes for one",
    .title_zh = "惊群：一次释放，全员惊醒",
    .source = "the articles on ZooKeeper: why everybody watches only the node before",
    .story = {"Ann has the lock; six processes wait.",
              "She releases.  One message goes to all who wait, and all of them ask.",
              "One waiter gets the lock, five asked for nothing; then the next release.",
              "For six to be served, the store answers twenty-one times.",
              "In a queue everybody waits for the one before: one release, one wake-up."},
    .story_zh = {"小安拿着锁，六个进程在等。",
                 "她一释放，消息发给所有等待者，大家一起来问。",
                 "一个拿到，五个白问，然后再来一遍。",
                 "为六个人服务，存储要应付二十一次。",
                 "排队时每人只等前一个：一次释放，只醒一个。"},
    .actors = {"Ann", "Bo", "Chu", "Dee", "Eli", "Fay", "Gus"},
    .breaks = SIGNS_TWO_INSIDE | SIGN_HERD | SIGN_BROADCAST,
    .stock = 10,
    .lease_ms = 10000,
    .play = play,
};
