/* SPDX-License-Identifier: MIT */
/* too_many_clients.c -- the server takes no more clients, just when the holder has to
 * connect anew. */
#include "loadtest/scenario/scenario.h"

/* Long enough for the work, where nobody renews. */
enum { WORK_MS = 3000 };

static bool has_fixed_lease(const struct stage *s)
{
    return !stage_has(s, DLOCK_CAP_SESSION) && !stage_is_renewed(s);
}

static void use_once(struct actor *a)
{
    actor_enter(a);
    actor_glance(a);
    actor_leave(a);
}

static void lose_connection(struct actor *a)
{
    actor_wire_node(a, 0, "cut to-client");
    actor_await_wire(a, WIRE_LOCK);
    actor_wire_mend(a, WIRE_LOCK);
}

static void ask_without_connection(struct stage *s, struct actor *chu)
{
    dlock_status st = actor_try(chu);

    if (stage_has(s, DLOCK_CAP_QUORUM)) {
        stage_need_in_time(s, st == DLOCK_BUSY, "four servers were to refuse Chu");
        return;
    }
    stage_need(s, st == DLOCK_IO || st == DLOCK_UNKNOWN,
               "Chu is to hear that the store cannot be had");
    stage_sign(s, SIGN_CALL_REFUSED, "the server takes no more clients, and says so");
}

static void work_on_lease(struct stage *s, struct actor *ann, struct actor *bo)
{
    stage_tell(s, "Ann's lease is as long as her work.  Bo is answered, and has to "
                  "wait.",
               "小安的租约够干完活。小博的申请有应答，但得等。");
    stage_need_in_time(s, actor_try(bo) == DLOCK_BUSY, "Ann's lease was to last");
    actor_buy(ann);
    stage_need_in_time(s, actor_is_protected(ann), "Ann's lease was to last");
    stage_tell(s, "Ann cannot release the lock: the server takes no connection.",
               "小安释放不了锁：服务器不接受连接。");
    stage_need_in_time(s, dlock_is_failure(actor_release(ann)),
                       "Ann's release was not to get through");
    stage_need_free(s, bo);
    stage_sign(s, SIGN_LEASE_WAITED, "the release found no connection");
    stage_need_in_time(s, actor_outwait(bo) == DLOCK_OK, "Bo was to be let in");
    actor_buy(bo);
    actor_release(bo);
}

static void rely_on_renewals(struct stage *s, struct actor *ann, struct actor *bo)
{
    if (stage_has(s, DLOCK_CAP_QUORUM)) {
        stage_pass_ms(s, 2 * stage_lease_ms(s));
        stage_need_in_time(s, actor_is_protected(ann), "four servers were to renew");
        stage_tell(s, "The other servers have room, and renew.  Bo asks.",
                   "其余服务器还有空位，照样续期。小博来申请。");
        actor_walk_in(bo, ann);
        return;
    }
    stage_need_free(s, bo);
    stage_tell(s, "No renewal got through.  Bo's connection has stood all the time.",
               "续期送不进去。小博的连接一直没断。");
    /* Bo waits, because the leases at the servers of multi do not end at the same
     * instant. */
    stage_need_in_time(s, actor_outwait(bo) == DLOCK_OK, "Bo was to be let in");
    actor_buy(bo);
    stage_tell(s, "Ann has read the stock already, and writes as she had decided.",
               "小安早就读过库存，照原来的打算写了下去。");
    actor_buy(ann);
    actor_release(bo);
    actor_release(ann);
}

static void play(struct stage *s)
{
    struct actor *ann = stage_actor(s, 0), *bo = stage_actor(s, 1),
                 *chu = stage_actor(s, 2);
    int limit;

    stage_tell(s, "Bo and Chu have used the lock: their connections stand.",
               "小博和小楚用过这把锁：两人的连接都还开着。");
    use_once(bo);
    use_once(chu);
    stage_tell(s, "Ann takes the lock and sees that one voucher is left.",
               "小安拿到锁，看到还剩一张券。");
    if (has_fixed_lease(s))
        stage_need(s, actor_acquire_for(ann, 0, WORK_MS) == DLOCK_OK,
                   "the lock was to be free");
    else
        actor_enter(ann);
    actor_read(ann);
    stage_tell(s, "The server is full: it keeps its connections, and takes no new one.",
               "服务器满员了：保留已有的连接，不接受新的。");
    limit = stage_server_hurt(s, "client-limit", stage_lock_server(s, 0), 0);
    stage_tell(s, "The connections of Ann and Chu are reset.  Chu asks for the lock.",
               "小安和小楚的连接被重置了。小楚来申请锁。");
    lose_connection(ann);
    lose_connection(chu);
    ask_without_connection(s, chu);
    if (has_fixed_lease(s))
        work_on_lease(s, ann, bo);
    else
        rely_on_renewals(s, ann, bo);
    stage_server_end(s, limit);
    stage_tell(s, "There is room again, and Chu is answered.", "又有空位了，小楚得到了应答。");
    if (actor_try_until_answered(chu) == DLOCK_OK)
        actor_release(chu);
}

const struct scenario scenario_too_many_clients = {
    .name = "too-many-clients",
    .number = "S34",
    .title = "The server takes no more clients",
    .title_zh = "连接数满了，谁也连不进来",
    .source = "maxclients of Redis, CONNECTION LIMIT of PostgreSQL: pools that outgrow it",
    .story = {"Ann holds the lock, which a watchdog renews; Ann's connection is reset.",
              "The server is full meanwhile, and takes no new connection.",
              "No renewal of Ann's gets through, and her lease ends while she works.",
              "Bo's connection stood all the time, and Bo takes the lock: oversold.",
              "A lease as long as the work needs no connection, until it is given back."},
    .story_zh = {"小安拿着锁，由看门狗续期；小安的连接被重置了。",
                 "而服务器此时已经满员，新的连接一律拒绝。",
                 "小安的续期送不进去，活没干完，租约先到期。",
                 "小博的连接一直没断，小博拿到锁：超卖。",
                 "租约若长过干活的时间，就用不着连接，直到归还那一刻。"},
    .actors = {"Ann", "Bo", "Chu"},
    .breaks = SIGNS_TWO_INSIDE | SIGN_OVERSOLD,
    .needs_own_servers = true,
    .play = play,
};
