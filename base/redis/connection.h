/* SPDX-License-Identifier: MIT */
/* connection.h -- one connection to one Redis server, driven without blocking.
 *
 * Sending and receiving are bounded by their callers, so that one absolute deadline bounds a
 * command whatever the server drips.
 *
 * Only for this room.
 *
 * Threads     One at a time. */
#ifndef BASE_REDIS_CONNECTION_H
#define BASE_REDIS_CONNECTION_H

#include "base/redis/answer.h"
#include "base/redis/message.h"
#include "base/redis/wire.h"

enum redis_conn_state {
    REDIS_CONNECTING,
    REDIS_GREETING, /* AUTH and SELECT are under way */
    REDIS_READY,
    REDIS_BROKEN,   /* `outcome` and `why` say how; only good for closing */
};

enum { REDIS_GREETINGS_MAX = 2 }; /* AUTH and SELECT */

struct redis_conn {
    struct redis_wire *wire; /* NULL: there is no way to the server, and it is BROKEN */
    struct redis_reader *reader;
    const struct redis_url *url;
    enum redis_conn_state state;
    unsigned wants; /* what redis_conn_advance() answered last */
    enum redis_outcome outcome;
    char why[REDIS_WHY_SIZE];
    char *greeting;
    size_t greeting_len, greeting_sent;
    size_t greeting_ends[REDIS_GREETINGS_MAX]; /* of each command in it */
    int greeting_count, greetings_done;
    struct redis_reading reading; /* of answers; messages have their own */
    struct redis_conn *next;      /* in a pool */
    int user_count;               /* of a link: threads at work on it just now */
};

/* Begin to connect.  `url` outlives the connection.  NULL: no memory; otherwise it is
 * to be closed, in whatever state it comes out. */
struct redis_conn *redis_conn_open(const struct redis_url *url);
void redis_conn_close(struct redis_conn *conn); /* NULL is fine */

/* Go on as far as it goes without blocking.  Answers what to wait for (wire.h) while
 * CONNECTING or GREETING, otherwise 0. */
unsigned redis_conn_advance(struct redis_conn *conn);

/* Advance until ready or broken, at the latest until `give_up_ns`. */
void redis_conn_finish(struct redis_conn *conn, int64_t give_up_ns);

/* Sleep until the wire is as wanted, or until `until_ns`. */
void redis_conn_wait(struct redis_conn *conn, unsigned wanted, int64_t until_ns);

/* Send what there is room for; *sent counts on.  False: broken. */
bool redis_conn_send(struct redis_conn *conn, const char *bytes, size_t len,
                     size_t *sent);

/* Once it is ready: what arrives from now on are messages, into `message`, which stays in
 * place as long as the connection. */
void redis_conn_expect_messages(struct redis_conn *conn, struct redis_message *message);

/* Take the next message that has arrived.  False: there is none yet; or broken, see its
 * state. */
bool redis_conn_next_message(struct redis_conn *conn);

/* Read once what has arrived.  False: nothing; or broken, see its state. */
bool redis_conn_feed(struct redis_conn *conn);

/* The same, and sleep for that a while, as redis_wire_await() does. */
bool redis_conn_await(struct redis_conn *conn);

/* Take the next answer out of what was read.  False: there is none yet; or broken. */
bool redis_conn_next_answer(struct redis_conn *conn, struct redis_answer *out);

/* Is there a part of an answer that was read and not taken? */
bool redis_conn_has_leftover(const struct redis_conn *conn);

/* Is an idle connection fit for use: still open and silent?  If not, it is only good for
 * closing. */
bool redis_conn_is_idle(const struct redis_conn *conn);

/* The connection is unusable because of `fmt`. */
void redis_conn_break(struct redis_conn *conn, enum redis_outcome outcome, const char *fmt,
                      ...) __attribute__((format(printf, 3, 4)));

#endif /* BASE_REDIS_CONNECTION_H */
