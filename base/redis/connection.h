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
    REDIS_ASKING,   /* a Sentinel for the master, or the master for its role */
    REDIS_READY,
    REDIS_BROKEN,   /* `outcome` and `why` say how; only good for closing */
};

enum { REDIS_GREETINGS_MAX = 2 }; /* AUTH and SELECT */

struct redis_conn;

/* How a connection finds a server that is not known yet, as resolve.c does with Sentinels. */
struct redis_route {
    /* Turn to the first server.  False: no memory. */
    bool (*begin)(struct redis_conn *conn);
    /* The connection is ASKING: ask, or turn to another server.  As redis_conn_advance(). */
    unsigned (*ask)(struct redis_conn *conn);
    /* Turn to the next server where this one has failed or is late.  True: there is something
     * to advance. */
    bool (*goes_on)(struct redis_conn *conn);
    /* Free conn->way. */
    void (*end)(struct redis_conn *conn);
};

struct redis_conn {
    struct redis_wire *wire; /* NULL: there is no way to the server, and it is BROKEN */
    struct redis_reader *reader;
    const struct redis_url *url; /* of the server that is spoken to now */
    const struct redis_route *route; /* NULL: the address is fixed */
    void *way;                       /* the route's own */
    uint64_t era; /* of the master that it leads to (master.h); 0: none */
    int64_t step_until_ns; /* not READY: the server that is tried now has until then */
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
    size_t unread_max; /* bytes of what was read and is not a whole reply */
};

/* Begin to connect to the server of `url`, which outlives the connection.  NULL: no memory;
 * otherwise it is to be closed, in whatever state it comes out. */
struct redis_conn *redis_conn_open(const struct redis_url *url);

/* The same by a route.  `way` is the connection's to end, also where NULL is answered. */
struct redis_conn *redis_conn_open_by(const struct redis_route *route, void *way);

void redis_conn_close(struct redis_conn *conn); /* NULL is fine */

/* Go on as far as it goes without blocking.  Answers what to wait for (wire.h) while
 * CONNECTING, GREETING or ASKING, otherwise 0.  It waits at most until step_until_ns. */
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

/* Speak to the server of `url` from now on, as after redis_conn_open().  False: no memory;
 * the connection is BROKEN, as it may be where true is answered. */
bool redis_conn_turn_to(struct redis_conn *conn, const struct redis_url *url);

/* Let the reader go through one whole reply.  False: it has not come yet; or broken. */
bool redis_conn_read_one(struct redis_conn *conn);

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
