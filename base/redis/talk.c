/* SPDX-License-Identifier: MIT */
/* talk.c -- one command after another on a connection of one's own.
 *
 * What a server keeps for a connection (watched keys, an open transaction) cannot be
 * shared.  So a conversation borrows a connection from the link's idle ones, and only
 * for as long as it lasts. */
#include <stdio.h>

#include "base/os/clock.h"
#include "base/os/event.h"
#include "base/redis/link.h"
#include "base/redis/link_inside.h"
#include "lock/dlock_variant.h"
#include "lock/metrics.h"

/* An idle connection that is fit for use, or NULL. */
static struct redis_conn *take_idle(struct redis_link *link)
{
    for (;;) {
        struct redis_conn *conn;

        redis_hub_lock(link->hub);
        conn = link->talkers;
        if (conn != NULL)
            link->talkers = conn->next;
        redis_hub_unlock(link->hub);
        if (conn == NULL || redis_conn_is_idle(conn))
            return conn;
        redis_conn_close(conn);
    }
}

/* A new connection that is ready, or NULL with the reason in `answer`. */
static struct redis_conn *connect_now(struct redis_link *link, int64_t end_ns,
                                      struct redis_answer *answer)
{
    struct redis_conn *conn;
    bool rests;

    redis_hub_lock(link->hub);
    rests = redis_link_rests(link);
    if (rests)
        redis_answer_fail(answer, DLOCK_IO, link->why);
    redis_hub_unlock(link->hub);
    if (rests)
        return NULL;
    conn = redis_conn_open(&link->url);
    if (conn == NULL) {
        redis_answer_fail(answer, DLOCK_NOMEM, "no memory for a connection");
        return NULL;
    }
    redis_conn_finish(conn, end_ns);
    if (conn->state == REDIS_READY)
        return conn;
    redis_answer_fail(answer, conn->status, conn->why);
    redis_hub_lock(link->hub);
    redis_link_failed(link, conn->why);
    redis_hub_unlock(link->hub);
    redis_conn_close(conn);
    return NULL;
}

/* Send `wire` and wait for an answer of that shape.  False: the connection is broken, or
 * not to be used any more. */
static bool ask(struct redis_conn *conn, const struct redis_wire *wire, int64_t end_ns,
                enum redis_shape shape, struct redis_answer *answer)
{
    size_t sent = 0;

    for (;;) {
        if (sent < wire->len) {
            redis_conn_send(conn, wire->bytes, wire->len, &sent);
        } else if (redis_conn_next_answer(conn, answer)) {
            return answer->status != DLOCK_OK ||
                   redis_shape_check(shape, conn->url->label, answer);
        }
        if (conn->state != REDIS_BROKEN && dlock_clock_ns() >= end_ns)
            redis_conn_break(conn, DLOCK_IO, "no answer in time");
        if (conn->state == REDIS_BROKEN)
            break;
        (void)dlock_poll_one(conn->context->fd, sent < wire->len ? POLLOUT : POLLIN, end_ns);
        if (sent == wire->len)
            redis_conn_feed(conn);
    }
    if (conn->status == DLOCK_IO && sent > 0)
        conn->status = DLOCK_UNKNOWN;
    redis_answer_fail(answer, conn->status, conn->why);
    return false;
}

static void say(struct redis_talk *talk, const struct redis_command *command,
                int64_t give_up_ns, struct redis_answer *answer)
{
    struct redis_link *link = talk->link;
    int64_t end_ns = dlock_clock_after(dlock_clock_ns(), link->timeout_ms);
    struct redis_wire wire;

    if (end_ns > give_up_ns)
        end_ns = give_up_ns;
    if (!redis_wire_write(&wire, command)) {
        redis_answer_fail(answer, DLOCK_NOMEM, "no memory for a command");
        talk->is_broken = true;
        return;
    }
    dlock_commands_sent++;
    if (talk->conn == NULL)
        talk->conn = take_idle(link);
    if (talk->conn == NULL)
        talk->conn = connect_now(link, end_ns, answer);
    if (talk->conn != NULL && !ask(talk->conn, &wire, end_ns, command->shape, answer)) {
        redis_conn_close(talk->conn);
        talk->conn = NULL;
    }
    talk->is_broken = talk->conn == NULL;
    redis_wire_free(&wire);
}

dlock_status redis_talk_say(struct redis_talk *talk,
                            const struct redis_command *command, int64_t give_up_ns,
                            struct redis_answer *answer)
{
    if (talk->is_broken)
        return dlock_fail(DLOCK_IO, "%s: the connection broke before",
                          redis_link_label(talk->link));
    say(talk, command, give_up_ns, answer);
    if (answer->status != DLOCK_OK)
        return dlock_fail(answer->status, "%s", answer->text);
    return DLOCK_OK;
}

void redis_talk_end(struct redis_talk *talk, bool is_clean)
{
    struct redis_link *link = talk->link;

    if (talk->conn != NULL && is_clean) {
        redis_hub_lock(link->hub);
        talk->conn->next = link->talkers;
        link->talkers = talk->conn;
        redis_hub_unlock(link->hub);
    } else {
        redis_conn_close(talk->conn);
    }
    talk->conn = NULL;
}
