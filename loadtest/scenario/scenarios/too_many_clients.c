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

static void ask_without_connection(struct stage *s, struct actor *chen)
{
    dlock_status st = actor_try(chen);

    if (stage_has(s, DLOCK_CAP_QUORUM)) {
        stage_need_in_time(s, st == DLOCK_BUSY, "four servers were to refuse him");
        return;
    }
    stage_need(s, st == DLOCK_IO || st == DLOCK_UNKNOWN,
               "Chen is to hear that the store cannot be had");
    stage_sign(s, SIGN_CALL_REFUSED, "the server takes no more clients, and says so");
}

static void work_on_lease(struct stage *s, struct actor *anna, struct actor *ben)
{
    stage_tell(s, "Her lease is as long as her work.  Ben is heard, and has to wait.",
               "她的租约够干完活。本的申请有应答，但得等。");
    stage_need_in_time(s, actor_try(ben) == DLOCK_BUSY, "Anna's lease was to last");
    actor_buy(anna);
    stage_need_in_time(s, actor_is_protected(anna), "Anna's lease was to last");
    stage_tell(s, "She cannot give it back: nobody hears her.", "她还不了锁：没人听得见。");
    stage_need_in_time(s, dlock_is_failure(actor_release(anna)),
                       "her release was not to get through");
    stage_need_free(s, ben);
    stage_sign(s, SIGN_LEASE_WAITED, "the release found no connection");
    stage_need_in_time(s, actor_outwait(ben) == DLOCK_OK, "Ben was to be let in");
    actor_buy(ben);
    actor_release(ben);
}

static void rely_on_renewals(struct stage *s, struct actor *anna, struct actor *ben)
{
    if (stage_has(s, DLOCK_CAP_QUORUM)) {
        stage_pass_ms(s, 2 * stage_lease_ms(s));
        stage_need_in_time(s, actor_is_protected(anna), "four servers were to renew");
        stage_tell(s, "The other servers have room, and renew.  Ben asks.",
                   "其余服务器还有空位，照样续期。本来申请。");
        actor_walk_in(ben, anna);
        return;
    }
    stage_need_free(s, ben);
    stage_tell(s, "Nobody could renew it.  Ben's connection has stood all the time.",
               "没有人能续。本的连接一直没断。");
    /* He waits, for the servers of multi do not end it all at once. */
    stage_need_in_time(s, actor_outwait(ben) == DLOCK_OK, "Ben was to be let in");
    actor_buy(ben);
    stage_tell(s, "Anna, who has looked already, writes what she had in mind.",
               "安娜早就看过了，照原来的打算写了下去。");
    actor_buy(anna);
    actor_release(ben);
    actor_release(anna);
}

static void play(struct stage *s)
{
    struct actor *anna = stage_actor(s, 0), *ben = stage_actor(s, 1),
                 *chen = stage_actor(s, 2);
    int limit;

    stage_tell(s, "Ben and Chen have used the lock: their connections stand.",
               "本和陈用过这把锁：他们的连接都还开着。");
    use_once(ben);
    use_once(chen);
    stage_tell(s, "Anna takes the lock and sees that one voucher is left.",
               "安娜拿到锁，看到还剩一张券。");
    if (has_fixed_lease(s))
        stage_need(s, actor_acquire_for(anna, 0, WORK_MS) == DLOCK_OK,
                   "the lock was to be free");
    else
        actor_enter(anna);
    actor_read(anna);
    stage_tell(s, "The server is full: who is connected stays, nobody else gets in.",
               "服务器满员了：连着的留下，别人再也进不来。");
    limit = stage_server_hurt(s, "client-limit", stage_lock_server(s, 0), 0);
    stage_tell(s, "The connections of Anna and Chen are reset.  Chen asks for the lock.",
               "安娜和陈的连接被重置了。陈来申请锁。");
    lose_connection(anna);
    lose_connection(chen);
    ask_without_connection(s, chen);
    if (has_fixed_lease(s))
        work_on_lease(s, anna, ben);
    else
        rely_on_renewals(s, anna, ben);
    stage_server_end(s, limit);
    stage_tell(s, "There is room again, and Chen is answered.", "又有空位了，陈得到了应答。");
    if (actor_try_until_answered(chen) == DLOCK_OK)
        actor_release(chen);
}

const struct scenario scenario_too_many_clients = {
    .name = "too-many-clients",
    .number = "S34",
    .title = "The server takes no more clients",
    .title_zh = "连接数满了，谁也连不进来",
    .source = "maxclients of Redis, CONNECTION LIMIT of PostgreSQL: pools that outgrow it",
    .story = {"Anna holds the lock, renewed by a watchdog; her connection is reset.",
              "Meanwhile the server is full, and takes nobody who connects anew.",
              "Her renewals find no way in, and the lease ends while she works.",
              "Ben, whose connection stood all the time, takes the lock: oversold.",
              "A lease as long as the work needs no connection, until it is given back."},
    .story_zh = {"安娜拿着锁，由看门狗续期；她的连接被重置了。",
                 "而服务器此时已经满员，新的连接一律拒绝。",
                 "续期送不进去，活没干完，租约先到期。",
                 "本的连接一直没断，他拿到锁：超卖。",
                 "租约若长过干活的时间，就用不着连接，直到归还那一刻。"},
    .actors = {"Anna", "Ben", "Chen"},
    .breaks = SIGNS_TWO_INSIDE | SIGN_OVERSOLD,
    .needs_own_servers = true,
    .play = play,
};
