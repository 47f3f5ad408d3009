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
        stage_need(s, stage_now_ms(s) < by_ms, "one of the waiters is to get the lock");
        stage_pass_ms(s, 2);
    }
    stage_need(s, actor_end(stage_actor(s, 1 + i)) == DLOCK_OK, "the waiter is to get the lock");
    return i;
}

static void play(struct stage *s)
{
    struct actor *ann = stage_actor(s, 0);
    /* An unfair lock tells every waiting process of a release; a fair lock tells the next
     * waiter. */
    bool is_broadcast = !stage_has(s, DLOCK_CAP_FAIR);
    bool has_left[WAITERS] = {false};

    stage_tell(s, "Ann has the lock.  Six others wait for it.",
               "小安拿着锁，另有六个在等。");
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
                              ? "All six woke and asked: one has the lock, five wait again."
                              : "One waiter woke and has the lock; no other one was woken.",
                       is_broadcast ? "六个都被唤醒，问了一遍：一个拿到锁，五个接着等。"
                                    : "只唤醒了一个，它拿到锁，其他的没有被唤醒。");
        actor_leave(stage_actor(s, 1 + i));
    }
}

const struct scenario scenario_herd = {
    .name = "herd",
    .number = "S37",
    .title = "The herd: one release wakes every waiter",
    .title_zh = "惊群：一次释放，唤醒所有等待者",
    .source = "the articles on ZooKeeper: why everybody watches only the node before",
    .story = {"Ann has the lock; six processes wait.",
              "Ann releases.  One message goes to all six waiters, and all six ask.",
              "One waiter gets the lock, five ask in vain; each release does that again.",
              "Until all six have had the lock, the store answers twenty-one times.",
              "In a queue each waits for the one before: one release wakes one waiter."},
    .story_zh = {"小安拿着锁，六个进程在等。",
                 "小安一释放，消息发给六个等待者，六个都来问。",
                 "一个拿到，五个白问；每次释放都再来一遍。",
                 "六个都拿到锁，存储要应答二十一次。",
                 "排队时每个只等前一个：一次释放，只唤醒一个。"},
    .actors = {"Ann", "Bo", "Chu", "Dee", "Eli", "Fay", "Gus"},
    .breaks = SIGNS_TWO_INSIDE | SIGN_HERD | SIGN_BROADCAST,
    .stock = 10,
    .lease_ms = 10000,
    .play = play,
};
