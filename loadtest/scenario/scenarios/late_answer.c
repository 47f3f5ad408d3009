/* SPDX-License-Identifier: MIT */
/* late_answer.c -- an answer arrives after its request timed out, when the next request
 * waits. */
#include "loadtest/scenario/scenario.h"

/* The release went on trying in vain, so the library opens a connection anew for this. */
enum { ASKS_MS = 500 };

static void play(struct stage *s)
{
    struct actor *ann = stage_actor(s, 0), *bo = stage_actor(s, 1);
    dlock_status st;

    stage_tell(s, "Ann releases.  The release is done, but its answer is stuck on its way.",
               "小安释放锁。已经生效，但应答卡在路上。");
    actor_enter(ann);
    actor_wire(ann, WIRE_LOCK, "hold to-client");
    actor_begin_release(ann);
    actor_await_wire(ann, WIRE_LOCK);
    st = actor_end(ann);
    stage_need(s, st == DLOCK_UNKNOWN || st == DLOCK_IO, "Ann is to give up waiting");
    stage_tell(s, "Bo takes the lock.", "小博拿到了锁。");
    stage_need_in_time(s, actor_outwait(bo) == DLOCK_OK, "Bo is to get in");
    stage_tell(s, "Ann asks for the lock.  Now the late answer arrives: \"1\", done.",
               "小安又来申请锁。这时迟到的应答来了：“1”，成功。");
    actor_wire(ann, WIRE_LOCK, "hold to-server");
    actor_begin_acquire(ann, ASKS_MS);
    actor_await_wire(ann, WIRE_LOCK);
    actor_wire_mend(ann, WIRE_LOCK);
    if (actor_end(ann) == DLOCK_OK)
        actor_release(ann);
    stage_need_in_time(s, actor_is_protected(bo), "Bo's lease was to last");
    actor_release(bo);
}

const struct scenario scenario_late_answer = {
    .name = "late-answer",
    .number = "S32",
    .title = "The late answer that is taken for the next one",
    .title_zh = "迟到的应答被当成下一条的应答",
    .source = "hiredis issues on contexts that are used again after a timeout",
    .story = {"Ann releases; the store does it, and answers 1.",
              "The answer is late.  Ann waits no longer for it, and Bo takes the lock.",
              "Ann asks for the lock, on the same connection, and the late 1 arrives.",
              "A client that uses the connection after a timeout takes the 1 for a grant.",
              "A connection that missed an answer has to be closed."},
    .story_zh = {"小安释放锁，存储照办，应答 1。",
                 "应答迟到，小安不再等；小博拿到了锁。",
                 "小安在同一条连接上申请锁，那个迟到的 1 来了。",
                 "超时后接着用旧连接的客户端，会把它当成加锁成功。",
                 "错过一个应答的连接必须关闭。"},
    .breaks = SIGN_TWO_HOLDERS | SIGN_WORKED_ON | SIGN_FOREIGN,
    .lease_ms = 2500,
    .store_timeout_ms = 1000,
    .play = play,
};
