/* SPDX-License-Identifier: MIT */
/* resolve.c -- finds the master by asking Sentinels, as steps of opening one
 * connection. */
#include "base/redis/resolve.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/os/clock.h"
#include "base/os/refusal.h"
#include "base/redis/reader.h"
#include "base/redis/sentinel.h"

enum { STEP_MS = 300 };

/* The next question.  The first two go to a Sentinel, in this order (sentinel.h). */
enum question { ASK_EPOCH, ASK_ADDRESS, ASK_ROLE };

struct redis_resolve {
    const struct redis_url *asked;
    struct redis_watch *watch;
    struct redis_url place; /* the URL of the Sentinel or master that is asked now */
    int sentinel;           /* the index of the Sentinel that is asked, or was asked
                             * last */
    int asked_count;        /* Sentinels that were asked */
    enum question question;
    size_t sent;     /* bytes of the question */
    int64_t epoch;
    struct redis_said said;
};

static struct redis_resolve *resolve_of(const struct redis_conn *conn)
{
    return conn->way;
}

static void begin_question(struct redis_resolve *resolve, enum question question)
{
    resolve->question = question;
    resolve->sent = 0;
    memset(&resolve->said, 0, sizeof(resolve->said));
}

/* Connect to the server of resolve->place. */
static bool turn(struct redis_conn *conn, enum question question)
{
    begin_question(resolve_of(conn), question);
    conn->step_until_ns = dlock_clock_after(dlock_clock_ns(), STEP_MS);
    return redis_conn_turn_to(conn, &resolve_of(conn)->place);
}

static bool turn_to_sentinel(struct redis_conn *conn)
{
    struct redis_resolve *resolve = conn->way;

    resolve->sentinel = resolve->asked_count++ == 0
                            ? redis_watch_first(resolve->watch)
                            : (resolve->sentinel + 1) % resolve->asked->sentinel_count;
    redis_sentinel_url(resolve->asked, resolve->sentinel, &resolve->place);
    return turn(conn, ASK_EPOCH);
}

static void end(struct redis_conn *conn)
{
    explicit_bzero(conn->way, sizeof(struct redis_resolve));
    free(conn->way);
}

static void hear_epoch(struct redis_conn *conn)
{
    struct redis_resolve *resolve = conn->way;

    if (resolve->said.error[0] != '\0') {
        redis_conn_break(conn, REDIS_NOT_DONE, "%s", redis_said_why(&resolve->said));
        return;
    }
    resolve->epoch = resolve->said.epoch;
    begin_question(resolve, ASK_ADDRESS);
}

static void hear_address(struct redis_conn *conn)
{
    struct redis_resolve *resolve = conn->way;
    struct redis_view view = {.epoch = resolve->epoch};

    if (!redis_said_address(&resolve->said, &view.place)) {
        redis_conn_break(conn, REDIS_NOT_DONE, "%s", redis_said_why(&resolve->said));
        return;
    }
    conn->era = redis_watch_hear(resolve->watch, resolve->sentinel, &view);
    if (conn->era == 0) {
        redis_conn_break(conn, REDIS_NOT_DONE,
                         "the Sentinel still names %.40s:%d, the master before the fail-over",
                         view.place.host, view.place.port);
        return;
    }
    memcpy(&resolve->place, resolve->asked, sizeof(resolve->place));
    resolve->place.sentinel_count = 0;
    redis_url_go_to(&resolve->place, &view.place);
    (void)turn(conn, ASK_ROLE); /* without memory it is BROKEN, which says so */
}

/* Read the answer of the server that a Sentinel named as the master. */
static void hear_role(struct redis_conn *conn)
{
    const struct redis_said *said = &resolve_of(conn)->said;

    if (said->error[0] != '\0') {
        redis_conn_break(conn,
                         refusal_of_text(REFUSAL_REDIS, said->error) == REFUSAL_LASTS
                             ? REDIS_PROTOCOL
                             : REDIS_NOT_DONE,
                         "%s", said->error);
    } else if (said->parts[0] == NULL || strcmp(said->parts[0], "master") != 0) {
        redis_conn_break(conn, REDIS_NOT_DONE,
                         "a Sentinel names it as the master, and its ROLE is \"%.20s\"",
                         said->parts[0] != NULL ? said->parts[0] : "");
    } else {
        redis_reader_hand_to(conn->reader, redis_reading_part, &conn->reading);
        conn->step_until_ns = INT64_MAX;
        conn->state = REDIS_READY;
    }
}

static struct redis_command command_of(const struct redis_resolve *resolve)
{
    static const struct redis_command role = {1, {"ROLE"}, REDIS_SHAPE_ANY};

    if (resolve->question == ASK_EPOCH)
        return redis_ask_epoch(resolve->asked->master_name);
    if (resolve->question == ASK_ADDRESS)
        return redis_ask_address(resolve->asked->master_name);
    return role;
}

/* Send the question and read the answer.  Returns what to wait for; 0: the answer was
 * read, or the connection is BROKEN. */
static unsigned ask(struct redis_conn *conn)
{
    struct redis_resolve *resolve = conn->way;
    struct redis_command command = command_of(resolve);
    struct redis_written written;
    bool is_sent;

    if (!redis_command_write(&written, &command)) {
        redis_conn_break(conn, REDIS_NO_MEMORY, "no memory for a command");
        return 0;
    }
    redis_reader_hand_to(conn->reader, redis_said_part, &resolve->said);
    is_sent = redis_conn_send(conn, written.bytes, written.len, &resolve->sent) &&
              resolve->sent == written.len;
    redis_written_free(&written);
    if (conn->state == REDIS_BROKEN)
        return 0;
    if (!is_sent)
        return REDIS_WIRE_CAN_SEND;
    if (!redis_conn_feed_one(conn))
        return conn->state == REDIS_BROKEN ? 0 : REDIS_WIRE_CAN_RECEIVE;
    if (resolve->question == ASK_EPOCH)
        hear_epoch(conn);
    else if (resolve->question == ASK_ADDRESS)
        hear_address(conn);
    else
        hear_role(conn);
    return 0;
}

static unsigned ask_on(struct redis_conn *conn)
{
    unsigned wants;

    do
        wants = ask(conn);
    while (wants == 0 && conn->state == REDIS_ASKING);
    return wants;
}

static bool goes_on(struct redis_conn *conn)
{
    struct redis_resolve *resolve = conn->way;
    char last[REDIS_WHY_SIZE];

    if (conn->state == REDIS_READY || conn->state == REDIS_OPENING)
        return false;
    if (conn->state != REDIS_BROKEN && dlock_clock_ns() >= conn->step_until_ns)
        redis_conn_break(conn, REDIS_NOT_DONE, "no answer in %d ms", (int)STEP_MS);
    if (conn->state != REDIS_BROKEN || conn->outcome == REDIS_NO_MEMORY)
        return false;
    if (resolve->asked_count < resolve->asked->sentinel_count)
        return turn_to_sentinel(conn); /* if it is BROKEN, the next call sees that */
    snprintf(last, sizeof(last), "%s", conn->why);
    snprintf(conn->why, sizeof(conn->why), "no Sentinel led to master %.40s: %.90s",
             resolve->asked->master_name, last);
    return false;
}

struct redis_conn *redis_resolve_open(const struct redis_url *url, struct redis_watch *watch)
{
    static const struct redis_route ROUTE = {
        .begin = turn_to_sentinel, .ask = ask_on, .goes_on = goes_on, .end = end};
    struct redis_resolve *resolve;

    if (watch == NULL)
        return redis_conn_open(url);
    resolve = calloc(1, sizeof(*resolve));
    if (resolve == NULL)
        return NULL;
    resolve->asked = url;
    resolve->watch = watch;
    return redis_conn_open_by(&ROUTE, resolve);
}
