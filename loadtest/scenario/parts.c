/* SPDX-License-Identifier: MIT */
/* parts.c -- steps that several scenarios share. */
#include "loadtest/scenario/scenario.h"

enum { COPY_MS = 300 };

bool actor_walk_in(struct actor *late, struct actor *early)
{
    bool is_in = actor_try_until_answered(late) == DLOCK_OK;

    if (is_in)
        actor_buy(late);
    actor_buy(early);
    if (is_in)
        actor_release(late);
    actor_release(early);
    return is_in;
}

bool stage_keeps_out(struct stage *s, struct actor *holder, struct actor *stranger)
{
    bool is_in = actor_try_until_answered(stranger) == DLOCK_OK;
    bool is_protected = actor_is_protected(holder);

    if (!is_in && is_protected)
        return true;
    stage_need_in_time(s, is_protected || stage_now_ms(s) < stage_lease_ms(s) / 2,
                       "the lease was to last");
    if (is_in)
        stage_sign(s, SIGN_TWO_HOLDERS, "the lock had a holder, and let a stranger in");
    else
        stage_sign(s, SIGN_LOST_EARLY, "the holder lost a lease that was not over");
    if (is_in)
        actor_release(stranger);
    actor_release(holder);
    return false;
}

void stage_open_sale(struct stage *s, struct actor *ann)
{
    stage_tell(s, "Ann takes the lock and sees that one voucher is left.",
               "小安拿到锁，看到还剩一张券。");
    actor_enter(ann);
    actor_read(ann);
}

void stage_play_copied_lock(struct stage *s, const char *english, const char *chinese)
{
    struct actor *ann = stage_actor(s, 0), *bo = stage_actor(s, 1);

    stage_open_sale(s, ann);
    stage_pass_ms(s, COPY_MS); /* she works, and the replicas copy her lock */
    stage_tell(s, english, chinese);
    stage_server_hurt(s, "pause-master", NULL, 0);
    actor_await_unprotected(ann);
    stage_tell(s, "Ann is told that her lock may be lost, and gives her work up.",
               "小安得知锁可能已经丢失，放弃手上的活。");
    stage_tell(s, "Bo asks the new master, which has the copy of Ann's lock.",
               "小博问新的主节点，那里有小安那把锁的副本。");
    stage_need_in_time(s, actor_try_until_answered(bo) != DLOCK_OK,
                       "the copy of Ann's lock was there when Bo asked");
    actor_release(ann);
    actor_enter(bo);
    actor_buy(bo);
    actor_leave(bo);
}
