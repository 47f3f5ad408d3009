/* SPDX-License-Identifier: MIT */
/* two_threads.c -- two threads of one process share its connections and ask for one lock.
 */
#include "loadtest/scenario/scenario.h"

static void play(struct stage *s)
{
    struct actor *ann = stage_actor(s, 0), *bo = stage_actor(s, 1);

    stage_tell(s, "Ann, a thread, takes the lock and reads the stock.",
               "线程小安拿到锁，读了库存。");
    actor_enter(ann);
    actor_read(ann);
    stage_tell(s, "Bo, another thread of that process, asks for it.",
               "同一进程的另一个线程小博来申请锁。");
    if (actor_try(bo) == DLOCK_OK) {
        actor_buy(bo);
        actor_buy(ann);
        actor_release(bo);
        actor_release(ann);
        return;
    }
    stage_tell(s, "Bo is refused, and leaves nothing behind that Ann would lose.",
               "小博被拒绝了，也没碰坏小安的锁。");
    stage_need_in_time(s, actor_is_protected(ann), "Ann's lease was to last");
    actor_buy(ann);
    actor_leave(ann);
    actor_enter(bo);
    actor_buy(bo);
    actor_leave(bo);
}

const struct scenario scenario_two_threads = {
    .name = "two-threads",
    .number = "S25",
    .title = "Two threads of one process",
    .title_zh = "同一进程里的两个线程",
    .source = "session advisory locks behind a pool: a session gets its own lock again",
    .story = {"Two threads of a process share its pool of connections.",
              "A session of PostgreSQL is given its own advisory lock again.",
              "Were both threads on one session, both would be let in.",
              "So each hold has a session of its own here, and each thread an owner.",
              "Under every lock that excludes threads, Bo is refused until Ann's release."},
    .story_zh = {"同一进程的两个线程共用一个连接池。",
                 "PostgreSQL 的会话再次申请自己的咨询锁，会再次成功。",
                 "两个线程若在同一会话上，就会双双放行。",
                 "所以这里每次持有都有自己的会话，每个线程有自己的锁标识。",
                 "只要锁能让线程互斥，小安释放之前小博就拿不到。"},
    .actors = {"Ann", "+Bo"},
    .breaks = SIGNS_TWO_INSIDE | SIGN_OVERSOLD | SIGN_LOST_UPDATE,
    .lease_ms = 20000,
    .play = play,
};
