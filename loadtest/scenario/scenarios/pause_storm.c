/* SPDX-License-Identifier: MIT */
/* pause_storm.c -- clients that stop every few seconds, for longer than the lease. */
#include "loadtest/scenario/scenario.h"

#include <stdio.h>

enum {
    CLIENTS = 5,
    LEASE_MS = 2000,
    WORK_MAX_MS = 2000,
    STORM_EACH_MS = 5000,
    STORM_MS = 3500,   /* longer than a lease that was renewed just now, or a session  */
    STOPPED_MAX = 3,   /* so that two are always there to go on                        */
    WAIT_MS = 20000,
    REST_MS = 100,     /* after an acquire that failed                                 */
    END_MS = 60000,    /* in which everybody has to come to an end                     */
    LOOK_MS = 10,
    STREAM_OF_STORMS = CLIENTS,
};

enum step { RESTS, ASKS, READS, WORKS, WRITES, LEAVES };

struct client {
    struct actor *actor;
    int number;
    enum step step;
    int64_t until_ms;  /* of a rest, of work                                           */
    bool is_waiting;   /* since the first request of the lock, until the stock was read; a
                        * request or a read that times out does not end the wait */
    int64_t asked_ms;
    bool is_stopped, was_stopped; /* now; since it asked                               */
};

struct storm {
    struct stage *s;
    struct scenario_tally *tally;
    struct client clients[CLIENTS];
    int64_t next_ms, until_ms; /* the next pause begins; this pause ends, 0: none */
    bool is_over;
};

/* ---- one client: acquire, read, work, write, release ---- */

static void rest(struct storm *storm, struct client *c, int64_t for_ms)
{
    c->step = RESTS;
    c->until_ms = stage_now_ms(storm->s) + for_ms;
}

static void ask(struct storm *storm, struct client *c)
{
    c->step = ASKS;
    if (!c->is_waiting) {
        c->is_waiting = true;
        c->asked_ms = stage_now_ms(storm->s);
        c->was_stopped = c->is_stopped;
    }
    actor_begin_acquire(c->actor, WAIT_MS);
}

static void leave(struct client *c)
{
    c->step = LEAVES;
    actor_begin_release(c->actor);
}

static void after_asking(struct storm *storm, struct client *c)
{
    if (actor_end(c->actor) != DLOCK_OK) {
        storm->tally->not_granted++;
        rest(storm, c, REST_MS);
    } else if (storm->is_over) {
        leave(c);
    } else {
        c->step = READS;
        actor_begin_read(c->actor);
    }
}

static void after_reading(struct storm *storm, struct client *c)
{
    int64_t now_ms = stage_now_ms(storm->s), waited_ms = now_ms - c->asked_ms;

    if (!actor_end_read(c->actor)) {
        storm->tally->not_done++;
        leave(c);
        return;
    }
    if (!c->was_stopped && waited_ms > storm->tally->longest_wait_ms)
        storm->tally->longest_wait_ms = waited_ms;
    c->is_waiting = false;
    c->step = WORKS;
    c->until_ms = now_ms + stage_draw(storm->s, c->number, WORK_MAX_MS + 1);
}

static void after_writing(struct storm *storm, struct client *c)
{
    switch (actor_end_buy(c->actor)) {
    case SALE_SOLD:
        storm->tally->acknowledged++;
        break;
    case SALE_UNSURE:
        storm->tally->unsure++;
        break;
    case SALE_STALE:
        storm->tally->stale++;
        break;
    default:
        storm->tally->not_done++;
        break;
    }
    leave(c);
}

static void write_now(struct client *c)
{
    c->step = WRITES;
    actor_begin_buy(c->actor);
}

/* Let the client begin its next step if its last step has ended. */
static void go_on(struct storm *storm, struct client *c)
{
    bool is_due = stage_now_ms(storm->s) >= c->until_ms;

    if (c->step == RESTS && is_due && !storm->is_over)
        ask(storm, c);
    else if (c->step == WORKS && is_due)
        write_now(c);
    if (c->step == RESTS || c->step == WORKS || !actor_has_ended(c->actor))
        return;
    if (c->step == ASKS) {
        after_asking(storm, c);
    } else if (c->step == READS) {
        after_reading(storm, c);
    } else if (c->step == WRITES) {
        after_writing(storm, c);
    } else {
        actor_end(c->actor); /* a client that lost its lock meanwhile goes on all the same
                              */
        rest(storm, c, 0);
    }
}

/* ---- the storm ---- */

static void tell_count(struct storm *storm, int count)
{
    char english[120], chinese[120];

    snprintf(english, sizeof english, "%lld updates are acknowledged.  A pause: %d of %d "
                                      "clients.",
             (long long)storm->tally->acknowledged, count, CLIENTS);
    snprintf(chinese, sizeof chinese, "已确认 %lld 次更新。%d 个客户端中的 %d 个停住。",
             (long long)storm->tally->acknowledged, CLIENTS, count);
    stage_tell(storm->s, english, chinese);
}

static void stop_one(struct storm *storm, struct client *c)
{
    storm->tally->stops++;
    storm->tally->holders_stopped += c->step >= READS && c->step <= WRITES;
    c->is_stopped = c->was_stopped = true;
    actor_stop(c->actor);
}

/* Stop some clients, drawn by chance whatever their step. */
static void stop_some(struct storm *storm)
{
    int count = 1 + (int)stage_draw(storm->s, STREAM_OF_STORMS, STOPPED_MAX);

    tell_count(storm, count);
    for (int left = count; left > 0;) {
        int64_t i = stage_draw(storm->s, STREAM_OF_STORMS, CLIENTS);

        if (storm->clients[i].is_stopped)
            continue;
        stop_one(storm, &storm->clients[i]);
        left--;
    }
    storm->until_ms = storm->next_ms + STORM_MS;
    storm->next_ms += STORM_EACH_MS;
}

static void continue_all(struct storm *storm)
{
    for (int i = 0; i < CLIENTS; i++) {
        if (storm->clients[i].is_stopped)
            actor_continue(storm->clients[i].actor);
        storm->clients[i].is_stopped = false;
    }
    storm->until_ms = 0;
}

static void blow(struct storm *storm)
{
    int64_t now_ms = stage_now_ms(storm->s);

    storm->is_over = now_ms >= stage_duration_ms(storm->s);
    if (storm->until_ms > 0 && (storm->is_over || now_ms >= storm->until_ms))
        continue_all(storm);
    else if (storm->until_ms == 0 && !storm->is_over && now_ms >= storm->next_ms)
        stop_some(storm);
}

static bool all_rest(const struct storm *storm)
{
    for (int i = 0; i < CLIENTS; i++)
        if (storm->clients[i].step != RESTS)
            return false;
    return true;
}

static void play(struct stage *s)
{
    struct storm storm = {.s = s, .tally = stage_tally(s), .next_ms = STORM_EACH_MS};

    for (int i = 0; i < CLIENTS; i++)
        storm.clients[i] = (struct client){.actor = stage_actor(s, i), .number = i};
    while (!storm.is_over || !all_rest(&storm)) {
        blow(&storm);
        for (int i = 0; i < CLIENTS; i++)
            go_on(&storm, &storm.clients[i]);
        stage_need(s, stage_now_ms(s) < stage_duration_ms(s) + END_MS,
                   "every client is to come to an end");
        stage_pass_ms(s, LOOK_MS);
    }
}

const struct scenario scenario_pause_storm = {
    .name = "pause-storm",
    .number = "S33",
    .title = "Pauses, every five seconds",
    .title_zh = "每五秒一次停顿",
    .source = "the pause experiment of Jepsen's analysis of etcd 3.4.3, 2020",
    .story = {"Five clients take the lock in turn, with a lease of two seconds.",
              "Each reads a number, works for up to two seconds, and writes one less.",
              "Every five seconds one to three of them, drawn by chance, stop for 3.5 seconds.",
              "A client that goes on too late overwrites what others wrote meanwhile.",
              "Counted: acknowledged updates that are not in the number at the end."},
    .story_zh = {"五个客户端轮流拿锁，租约两秒。",
                 "每个读出一个数，干活最多两秒，再写回减一的数。",
                 "每五秒随机抽一到三个客户端，停住 3.5 秒。",
                 "恢复得太晚的客户端，会覆盖别人这段时间写下的数。",
                 "统计：已确认的更新里，有多少不在最后的数里。"},
    .actors = {"Ann", "Bo", "Chu", "Dee", "Eli"},
    .breaks = SIGN_LOST_UPDATE,
    .stock = 1000000,
    .lease_ms = LEASE_MS,
    .duration_ms = 120000,
    .published = "etcd 3.4.3, by Jepsen: about 18 % of the acknowledged updates lost",
    .play = play,
};
