/* SPDX-License-Identifier: MIT */
/* talk.c -- conversations: one command after another on a connection of their own.
 *
 * A server's state for a connection (watched keys, an open transaction) cannot be
 * shared.  So a conversation borrows a connection from the link's idle ones, and only
 * for as long as it lasts. */
#include <stdio.h>

#include "base/os/clock.h"
#include "base/redis/link.h"
#include "base/redis/link_inside.h"
#include "base/redis/resolve.h"

enum {
    HOPS_MAX = 5,   /* from node to node of a cluster, by redirects */
    SPARE_MS = 500, /* additional time for the answer of WAIT, which Redis sends up to
                     * 100 ms after its timeout */
};

/* Take a usable idle connection; NULL: there is none. */
static struct redis_conn *take_idle(struct redis_link *link)
{
    for (;;) {
        struct redis_conn *conn;

        redis_link_group_lock(link->group);
        conn = link->talkers;
        if (conn != NULL)
            link->talkers = conn->next;
        redis_link_group_unlock(link->group);
        if (conn == NULL || (redis_conn_is_idle(conn) &&
                             !redis_watch_is_elsewhere(link->watch, conn)))
            return conn;
        redis_conn_close(conn);
    }
}

/* Make a new READY connection; NULL: `answer` has the reason. */
static struct redis_conn *connect_now(struct redis_link *link, int64_t end_ns,
                                      struct redis_answer *answer)
{
    struct redis_conn *conn;
    bool rests;

    redis_link_group_lock(link->group);
    rests = redis_link_rests(link);
    if (rests)
        redis_answer_fail(answer, link->alone_outcome, link->why);
    redis_link_group_unlock(link->group);
    if (rests)
        return NULL;
    conn = redis_resolve_open(&link->url, link->watch);
    if (conn == NULL) {
        redis_answer_fail(answer, REDIS_NO_MEMORY, "no memory for a connection");
        return NULL;
    }
    redis_conn_finish(conn, end_ns);
    if (conn->state == REDIS_READY)
        return conn;
    redis_answer_fail(answer, conn->outcome, conn->why);
    redis_link_group_lock(link->group);
    redis_link_failed(link, conn->outcome, conn->why);
    redis_link_group_unlock(link->group);
    redis_conn_close(conn);
    return NULL;
}

/* A new connection has brought an answer: the server is not left alone any more. */
static void end_pause(struct redis_link *link)
{
    redis_link_group_lock(link->group);
    link->pause_ms = 0;
    redis_link_group_unlock(link->group);
}

/* Send the command and wait for an answer of that shape.  False: the connection is broken, or
 * not to be used any more. */
static bool ask(struct redis_conn *conn, const struct redis_written *written, int64_t end_ns,
                const struct redis_shape *shape, struct redis_answer *answer)
{
    size_t sent = 0;

    for (;;) {
        if (sent < written->len) {
            redis_conn_send(conn, written->bytes, written->len, &sent);
        } else if (redis_conn_next_answer(conn, answer)) {
            return !answer->not_master &&
                   (answer->outcome != REDIS_ANSWERED ||
                    redis_shape_check(shape, conn->url->label, answer));
        }
        if (conn->state != REDIS_BROKEN && dlock_clock_ns() >= end_ns)
            redis_conn_break(conn, REDIS_NOT_DONE, "no answer in time");
        if (conn->state == REDIS_BROKEN)
            break;
        redis_conn_wait(conn,
                        sent < written->len ? REDIS_WIRE_CAN_SEND : REDIS_WIRE_CAN_RECEIVE,
                        end_ns);
        if (sent == written->len)
            redis_conn_feed(conn);
    }
    if (conn->outcome == REDIS_NOT_DONE && sent > 0)
        conn->outcome = REDIS_UNKNOWN;
    redis_answer_fail(answer, conn->outcome, conn->why);
    return false;
}

/* The buffer for the text of a long answer; NULL: the answer is short. */
struct room {
    char *text;
    size_t size;
};

static void say_until(struct redis_talk *talk, const struct redis_command *command,
                      int64_t end_ns, struct room room, struct redis_answer *answer)
{
    struct redis_link *link = talk->link;
    struct redis_written written;
    bool is_new = false;

    if (!redis_command_write(&written, command)) {
        redis_answer_fail(answer, REDIS_NO_MEMORY, "no memory for a command");
        talk->is_broken = true;
        return;
    }
    ++*redis_commands_here();
    if (talk->conn == NULL)
        talk->conn = take_idle(link);
    if (talk->conn == NULL) {
        talk->conn = connect_now(link, end_ns, answer);
        is_new = talk->conn != NULL;
    }
    if (talk->conn != NULL) {
        talk->conn->reading.whole = room.text;
        talk->conn->reading.whole_size = room.size;
    }
    if (talk->conn != NULL && !ask(talk->conn, &written, end_ns, command->shape, answer)) {
        redis_talk_cut(talk);
        redis_conn_close(talk->conn);
        talk->conn = NULL;
    }
    if (talk->conn != NULL)
        talk->conn->reading.whole = NULL;
    if (talk->conn != NULL && is_new)
        end_pause(link);
    talk->is_broken = talk->conn == NULL;
    redis_link_judge_redirect(link, answer);
    redis_written_free(&written);
}

/* The deadline of a request with this timeout. */
static int64_t end_of(int64_t give_up_ns, int64_t timeout_ms)
{
    int64_t end_ns = dlock_clock_after(dlock_clock_ns(), timeout_ms);

    return end_ns < give_up_ns ? end_ns : give_up_ns;
}

static void say(struct redis_talk *talk, const struct redis_command *command,
                int64_t give_up_ns, struct room room, struct redis_answer *answer)
{
    say_until(talk, command, end_of(give_up_ns, talk->link->timeout_ms), room, answer);
}

/* Send ASKING: the next command is for a slot that moves to the node.  False: it was
 * not confirmed. */
static bool say_asking(struct redis_talk *talk, int64_t give_up_ns, struct redis_answer *answer)
{
    static const struct redis_command ASKING = {1, {"ASKING"}, REDIS_SHAPE_DONE};

    say(talk, &ASKING, give_up_ns, (struct room){0}, answer);
    return answer->outcome == REDIS_ANSWERED;
}

/* Send the first command of a conversation over a routed link.  The server that
 * executes it gets all later commands. */
static void say_first(struct redis_talk *talk, const struct redis_command *command,
                      int64_t give_up_ns, struct room room, struct redis_answer *answer)
{
    const struct redis_router *router = talk->link->router;
    void *routes = talk->link->routes;
    char why[REDIS_WHY_SIZE] = "";
    struct redis_link *link = router->pick(routes, command, give_up_ns, why);
    bool asking = false;

    if (link == NULL)
        redis_answer_fail(answer, REDIS_NOT_DONE, why);
    for (int hops = 0; link != NULL && hops < HOPS_MAX; hops++) {
        redis_talk_end(talk, !talk->is_broken);
        talk->link = redis_link_here(link);
        if (talk->link == NULL) {
            redis_answer_fail(answer, REDIS_NO_MEMORY, "no memory for a link");
            talk->link = link;
            break;
        }
        talk->is_broken = false;
        if (!asking || say_asking(talk, give_up_ns, answer))
            say(talk, command, give_up_ns, room, answer);
        link = router->pick_again(routes, command, give_up_ns, link, answer, &asking);
    }
    if (answer->outcome != REDIS_ANSWERED)
        talk->is_broken = true;
    answer->redirect = REDIS_NO_REDIRECT;
}

void redis_talk_ask(struct redis_talk *talk, const struct redis_command *command,
                    int64_t give_up_ns, struct redis_answer *answer)
{
    redis_talk_ask_text(talk, command, give_up_ns, NULL, 0, answer);
}

void redis_talk_ask_text(struct redis_talk *talk, const struct redis_command *command,
                         int64_t give_up_ns, char *text, size_t size,
                         struct redis_answer *answer)
{
    struct redis_link *link;
    char why[REDIS_TEXT_SIZE];

    if (talk->link->router != NULL && !talk->is_broken) {
        say_first(talk, command, give_up_ns, (struct room){text, size}, answer);
        return;
    }
    link = talk->link->router == NULL ? redis_link_here(talk->link) : talk->link;
    if (link == NULL) {
        redis_answer_fail(answer, REDIS_NO_MEMORY, "no memory for a link");
        talk->is_broken = true;
        return;
    }
    talk->link = link;
    if (talk->is_broken) {
        snprintf(why, sizeof(why), "%s: the connection broke before",
                 redis_link_label(talk->link));
        redis_answer_fail(answer, REDIS_NOT_DONE, why);
    } else {
        say(talk, command, give_up_ns, (struct room){text, size}, answer);
    }
}

void redis_talk_await_replicas(struct redis_talk *talk, int count, int64_t give_up_ns,
                               struct redis_answer *answer)
{
    char wanted[12];
    char limit[12];
    int64_t left_ms = (give_up_ns - dlock_clock_ns()) / DLOCK_NS_PER_MS;
    int limit_ms = left_ms < talk->link->timeout_ms ? (int)left_ms : talk->link->timeout_ms;
    struct redis_command wait = {3, {"WAIT", wanted, limit}, REDIS_SHAPE_REPLICAS};

    if (limit_ms < 1)
        limit_ms = 1; /* 0 would mean no limit */
    snprintf(wanted, sizeof(wanted), "%d", count);
    snprintf(limit, sizeof(limit), "%d", limit_ms);
    if (talk->conn == NULL) /* a new connection has written nothing, so WAIT would say
                             * nothing about the earlier writes */
        redis_answer_fail(answer, REDIS_NOT_DONE, "the connection of the write is lost");
    else
        say_until(talk, &wait, end_of(give_up_ns, limit_ms + SPARE_MS), (struct room){0}, answer);
}

void redis_talk_cut(struct redis_talk *talk)
{
    if (talk->conn != NULL)
        redis_wire_cut(talk->conn->wire);
}

void redis_talk_end(struct redis_talk *talk, bool is_clean)
{
    struct redis_link *link = talk->link;

    if (talk->conn != NULL && is_clean) {
        redis_link_group_lock(link->group);
        talk->conn->next = link->talkers;
        link->talkers = talk->conn;
        redis_link_group_unlock(link->group);
    } else {
        redis_conn_close(talk->conn);
    }
    talk->conn = NULL;
}
