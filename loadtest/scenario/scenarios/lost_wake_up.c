/* SPDX-License-Identifier: MIT */
/* lost_wake_up.c -- the message that wakes the waiter is lost, and the lock is free. */
#include "loadtest/probe/redis_connection.h"
#include "loadtest/scenario/scenario.h"

enum { LEASE_MS = 12000, LOOK_MS = 5 };

/* `waiting` asks, is refused, and listens, as Redis knows. */
static void begin_to_listen(struct stage *s, struct actor *waiting)
{
    const struct lab_server *server =
        lab_find_server(stage_lab(s), stage_lock_server(s, 0));
    struct redis_side *side = redis_side_open(stage_lab(s), server, REDIS_SIDE_MS);
    bool listens;

    actor_begin_acquire(waiting, SCENARIO_STEP_MS - LOOK_MS);
    actor_await_waiting(waiting);
    listens = redis_side_await_listener(side, stage_lock_name(s), SCENARIO_STEP_MS);
    redis_side_close(side);
    stage_need(s, listens, "the waiter is to listen");
}

/* `holder` releases, of which nobody hears; how long does the waiter sleep on? */
static void leave_unheard(struct stage *s, struct actor *holder, struct actor *waiting)
{
    int64_t free_ms;

    actor_leave(holder);
    free_ms = stage_now_ms(s);
    if (actor_end(waiting) != DLOCK_OK || stage_now_ms(s) - free_ms > LEASE_MS / 2)
        stage_sign(s, SIGN_LEASE_WAITED, "the waiter waited on while the lock was free");
}

static void play(struct stage *s)
{
    struct actor *ann = stage_actor(s, 0), *bo = stage_actor(s, 1);

    stage_tell(s, "Ann has the lock.  Bo waits to be told of its release.",
               "小安持有锁。小博等着释放的通知。");
    actor_enter(ann);
    begin_to_listen(s, bo);
    stage_tell(s, "Ann releases the lock.  The message is lost on its way to Bo.",
               "小安释放了锁，给小博的通知在半路上丢了。");
    actor_wire(bo, WIRE_LOCK, "drop:1 to-client at message");
    leave_unheard(s, ann, bo);
    actor_await_wire(bo, WIRE_LOCK);
    stage_tell(s, "Now Bo has the lock, and Ann waits.  Redis cuts off all who listen.",
               "现在锁归小博，换小安等。Redis 把监听的连接全断了。");
    begin_to_listen(s, ann);
    stage_server_hurt(s, "kill-pubsub", stage_lock_server(s, 0), 0);
    leave_unheard(s, bo, ann);
    actor_release(ann);
}

const struct scenario scenario_lost_wake_up = {
    .name = "lost-wake-up",
    .number = "S21",
    .title = "The wake-up that never came",
    .title_zh = "没有等到的唤醒",
    .source = "Redisson's issues on missed unlock messages; its wait for the PTTL",
    .story = {"Bo waits for the lock, until a message tells of its release.",
              "Ann releases the lock.  Redis tells the listeners once, and keeps no copy.",
              "The message is lost, or the connection that carries it breaks.",
              "The lock is free, and Bo waits on: until Ann's lease would have ended?",
              "A message is only a hint; a waiter has to ask by itself as well."},
    .story_zh = {"小博在等锁，等释放的通知。",
                 "小安释放了锁，Redis 只通知监听者一次，不留副本。",
                 "消息丢了，或者送消息的连接断了。",
                 "锁空着，小博还在等：要等到小安的旧租约到期吗？",
                 "通知只是提示，等待者还得自己时不时问一次。"},
    .breaks = SIGNS_TWO_INSIDE,
    .lease_ms = LEASE_MS,
    .needs_own_servers = true,
    .play = play,
};
