/* SPDX-License-Identifier: MIT */
/* redis_exchange.c -- one command to several servers at once, with one deadline.
 *
 * Each leg goes on by itself: connect, greet, send, receive.  The thread polls all of
 * them until those that count have come to an end. */
#include <poll.h>
#include <stdio.h>
#include <string.h>

#include "lock/clock.h"
#include "lock/dlock_variant.h"
#include "lock/stores/redis_pool.h"

enum { LEGS_MAX = 16 };

/* A leg under way. */
struct trip {
    struct redis_leg *leg;
    struct redis_conn *conn; /* NULL: at its end */
    size_t sent;
};

static void fail_leg(struct redis_leg *leg, dlock_status status, const char *why)
{
    leg->answer.status = status;
    snprintf(leg->answer.text, sizeof(leg->answer.text), "%s", why);
}

static void depart(struct trip *trip)
{
    struct redis_leg *leg = trip->leg;
    char why[REDIS_WHY_SIZE] = "";

    memset(&leg->answer, 0, sizeof(leg->answer));
    trip->sent = 0;
    trip->conn = leg->kept;
    leg->kept = NULL;
    if (trip->conn == NULL)
        trip->conn =
            redis_link_take(leg->link, leg->insist || leg->courtesy, why, sizeof(why));
    if (trip->conn == NULL)
        fail_leg(leg, DLOCK_IO, why);
}

/* The connection broke, or is given up. */
static void end_badly(struct trip *trip, bool was_slow)
{
    struct redis_conn *conn = trip->conn;
    dlock_status status = conn->status;

    /* What the server said on the way in tells the truth; what broke after a part of
     * the command had left does not tell whether it was executed. */
    if (status == DLOCK_IO && trip->sent > 0)
        status = DLOCK_UNKNOWN;
    fail_leg(trip->leg, status, conn->why);
    /* A courtesy is cut short when the others are done: that says nothing of its
     * server. */
    if (trip->leg->courtesy)
        redis_conn_close(conn);
    else
        redis_link_drop(trip->leg->link, conn, was_slow);
    trip->conn = NULL;
}

static void read_reply(struct redis_answer *answer, const redisReply *reply,
                       const char *label)
{
    answer->status = DLOCK_OK;
    switch (reply->type) {
    case REDIS_REPLY_NIL:
        answer->kind = REDIS_NIL;
        break;
    case REDIS_REPLY_INTEGER:
        answer->kind = REDIS_INTEGER;
        answer->integer = reply->integer;
        break;
    case REDIS_REPLY_STATUS:
    case REDIS_REPLY_STRING:
        answer->kind = REDIS_TEXT;
        snprintf(answer->text, sizeof(answer->text), "%s", reply->str);
        break;
    case REDIS_REPLY_ERROR:
        answer->status = DLOCK_PROTOCOL;
        snprintf(answer->text, sizeof(answer->text), "%.60s: %s", label, reply->str);
        break;
    default:
        answer->kind = REDIS_OTHER;
    }
}

static void arrive(struct trip *trip, redisReply *reply)
{
    struct redis_leg *leg = trip->leg;

    read_reply(&leg->answer, reply, redis_link_label(leg->link));
    freeReplyObject(reply);
    if (leg->keep)
        leg->kept = trip->conn;
    else
        redis_link_give(leg->link, trip->conn);
    trip->conn = NULL;
}

/* Go on without blocking.  Answers what to poll for; 0 at the end of the trip. */
static short advance(struct trip *trip, const char *bytes, size_t len)
{
    struct redis_conn *conn = trip->conn;
    short events = redis_conn_advance(conn);
    redisReply *reply = NULL;

    if (events != 0)
        return events;
    if (conn->state == REDIS_READY && trip->sent < len) {
        redis_conn_send(conn, bytes, len, &trip->sent);
        events = trip->sent < len ? POLLOUT : POLLIN; /* no reply can be here yet */
    } else if (conn->state == REDIS_READY) {
        reply = redis_conn_receive(conn);
        events = POLLIN;
    }
    if (reply != NULL) {
        arrive(trip, reply);
        return 0;
    }
    if (conn->state != REDIS_BROKEN)
        return events;
    end_badly(trip, false);
    return 0;
}

/* Poll and advance until every trip that counts is at its end, or until give_up_ns. */
static void travel(struct trip *trips, size_t trip_count, const char *bytes, size_t len,
                   int64_t give_up_ns)
{
    struct pollfd polled[LEGS_MAX];

    for (;;) {
        bool waiting = false;

        for (size_t i = 0; i < trip_count; i++) {
            polled[i].fd = -1;
            polled[i].revents = 0;
            if (trips[i].conn == NULL)
                continue;
            polled[i].events = advance(&trips[i], bytes, len);
            if (trips[i].conn == NULL)
                continue;
            polled[i].fd = trips[i].conn->context->fd;
            waiting = waiting || !trips[i].leg->courtesy;
        }
        if (!waiting || dlock_clock_ns() >= give_up_ns)
            return;
        poll(polled, trip_count, dlock_clock_poll_ms(give_up_ns));
    }
}

void redis_exchange(struct redis_leg *legs, size_t leg_count,
                    const struct redis_command *command, int64_t give_up_ns)
{
    struct trip trips[LEGS_MAX];
    int64_t now_ns = dlock_clock_ns();
    int64_t end_ns = now_ns;
    char *bytes = NULL;
    int len = redisFormatCommandArgv(&bytes, command->argc,
                                     (const char **)command->argv, NULL);

    for (size_t i = 0; i < leg_count; i++) {
        int64_t leg_end_ns =
            dlock_clock_after(now_ns, redis_link_timeout_ms(legs[i].link));

        if (leg_end_ns > end_ns)
            end_ns = leg_end_ns;
        trips[i].leg = &legs[i];
        if (len >= 0)
            depart(&trips[i]);
        else
            fail_leg(&legs[i], DLOCK_NOMEM, "no memory for a command");
    }
    if (len < 0)
        return;
    if (end_ns > give_up_ns)
        end_ns = give_up_ns;
    travel(trips, leg_count, bytes, (size_t)len, end_ns);
    for (size_t i = 0; i < leg_count; i++)
        if (trips[i].conn != NULL) {
            redis_conn_break(trips[i].conn, DLOCK_IO, "no answer in time");
            end_badly(&trips[i], true);
        }
    redisFreeCommand(bytes);
}

dlock_status redis_call(struct redis_link *link, const struct redis_command *command,
                        int64_t give_up_ns, struct redis_answer *answer)
{
    struct redis_leg leg = {.link = link};

    redis_exchange(&leg, 1, command, give_up_ns);
    *answer = leg.answer;
    if (answer->status != DLOCK_OK)
        return dlock_fail(answer->status, "%s", answer->text);
    return DLOCK_OK;
}

dlock_status redis_talk_say(struct redis_talk *talk,
                            const struct redis_command *command, int64_t give_up_ns,
                            struct redis_answer *answer)
{
    struct redis_leg leg = {.link = talk->link, .keep = true, .kept = talk->conn};

    if (talk->is_broken)
        return dlock_fail(DLOCK_IO, "%s: the connection broke before",
                          redis_link_label(talk->link));
    redis_exchange(&leg, 1, command, give_up_ns);
    talk->conn = leg.kept;
    talk->is_broken = talk->conn == NULL;
    *answer = leg.answer;
    if (answer->status != DLOCK_OK)
        return dlock_fail(answer->status, "%s", answer->text);
    return DLOCK_OK;
}

void redis_talk_end(struct redis_talk *talk, bool is_clean)
{
    if (talk->conn != NULL && is_clean)
        redis_link_give(talk->link, talk->conn);
    else if (talk->conn != NULL)
        redis_conn_close(talk->conn);
    talk->conn = NULL;
}

dlock_status redis_ping(struct redis_link *link)
{
    static const struct redis_command ping = {1, {"PING"}};
    struct redis_leg leg = {.link = link, .insist = true};

    redis_exchange(&leg, 1, &ping, INT64_MAX);
    if (leg.answer.status != DLOCK_OK)
        return dlock_fail(leg.answer.status, "%s", leg.answer.text);
    return DLOCK_OK;
}
