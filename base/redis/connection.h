/* SPDX-License-Identifier: MIT */
/* connection.h -- one connection to one Redis server, without blocking calls.
 *
 * The callers limit the time of sending and receiving.  So one absolute deadline holds
 * for a command, even if the server sends its answer byte by byte.
 *
 * Only for base/redis/.
 *
 * Threads     One at a time. */
#ifndef BASE_REDIS_CONNECTION_H
#define BASE_REDIS_CONNECTION_H

#include "base/redis/answer.h"
#include "base/redis/wire.h"

enum redis_conn_state {
    REDIS_OPENING, /* needs a wire to the server of `url`, whose name may have to be resolved */
    REDIS_CONNECTING,
    REDIS_GREETING, /* AUTH and SELECT are under way */
    REDIS_ASKING,   /* a Sentinel for the master, or the master for its role */
    REDIS_READY,
    REDIS_BROKEN,   /* `outcome` and `why` say how; can only be closed */
};

enum { REDIS_GREETINGS_MAX = 2 }; /* AUTH and SELECT */

struct redis_conn;

/* The functions by which a connection finds a server whose address is not known yet.
 * resolve.c has those for Sentinels. */
struct redis_route {
    /* Begin to connect to the first server.  False: no memory. */
    bool (*begin)(struct redis_conn *conn);
    /* Called while ASKING: ask the server, or connect to another.  Returns what
     * redis_conn_advance() returns. */
    unsigned (*ask)(struct redis_conn *conn);
    /* Connect to the next server, because this one has failed or is late.  True: the
     * caller goes on with redis_conn_advance(). */
    bool (*goes_on)(struct redis_conn *conn);
    /* Free conn->way. */
    void (*end)(struct redis_conn *conn);
};

struct redis_conn {
    struct redis_wire *wire; /* NULL: no socket, and the state is OPENING or BROKEN */
    struct redis_reader *reader;
    const struct redis_url *url; /* of the server that the connection leads to now */
    const struct redis_route *route; /* NULL: the address is fixed */
    void *way;                       /* the route's own */
    uint64_t era; /* of the master that it leads to (master.h); 0: none */
    int64_t step_until_ns; /* before READY: the time limit of the server that is tried
                            * now */
    enum redis_conn_state state;
    unsigned wants; /* the last answer of redis_conn_advance() */
    enum redis_outcome outcome;
    char why[REDIS_WHY_SIZE];
    char *greeting;
    size_t greeting_len, greeting_sent;
    size_t greeting_ends[REDIS_GREETINGS_MAX]; /* of each command in it */
    int greeting_count, greetings_done;
    struct redis_reading reading; /* of answers; messages have their own */
    struct redis_conn *next;      /* in a pool */
    int user_count;               /* of a link: threads that use the connection just
                                   * now */
    size_t unread_max; /* the limit of received bytes without a whole reply */
};

/* Begin to connect to the server of `url`, which outlives the connection.  NULL: no
 * memory.  Otherwise the caller closes the connection with redis_conn_close(), whatever
 * its state. */
struct redis_conn *redis_conn_open(const struct redis_url *url);

/* The same by a route, but the connection is OPENING.  The connection ends `way`, also if the
 * answer is NULL. */
struct redis_conn *redis_conn_open_by(const struct redis_route *route, void *way);

void redis_conn_close(struct redis_conn *conn); /* NULL is fine */

/* Go on with opening the connection, without blocking.  While CONNECTING, GREETING or
 * ASKING the answer is what to wait for (wire.h), at most until step_until_ns;
 * otherwise 0.  If the connection is OPENING then, the caller opens a wire by
 * redis_wire_open(), which may block, and passes it on by redis_conn_take_wire(). */
unsigned redis_conn_advance(struct redis_conn *conn);

/* Give the OPENING connection its wire; NULL: `why` has the reason, as redis_wire_open()
 * says. */
void redis_conn_take_wire(struct redis_conn *conn, struct redis_wire *wire, const char *why);

/* Go on until the connection is READY or BROKEN, at most until `give_up_ns`. */
void redis_conn_finish(struct redis_conn *conn, int64_t give_up_ns);

/* Sleep until the socket is ready as `wanted`, or until `until_ns`. */
void redis_conn_wait(struct redis_conn *conn, unsigned wanted, int64_t until_ns);

/* Send as many of the bytes after the first *sent as the socket takes, and add their
 * number to *sent.  False: the connection broke. */
bool redis_conn_send(struct redis_conn *conn, const char *bytes, size_t len,
                     size_t *sent);

/* Read everything that arrives from now on as messages, into `message`, which must live
 * as long as the connection.  The connection is READY. */
void redis_conn_expect_messages(struct redis_conn *conn, struct redis_message *message);

/* Connect to the server of `url` instead, which outlives the connection: it is OPENING.
 * False: no memory, and the connection is BROKEN. */
bool redis_conn_turn_to(struct redis_conn *conn, const struct redis_url *url);

/* Read one whole reply, or one message, out of the bytes that were received.  False: it has not
 * come yet, or the connection broke. */
bool redis_conn_read_one(struct redis_conn *conn);

/* The same, but if it has not come, read once from the socket, and try again.  A caller that waits
 * for the rest of the reply checks its deadline in between: the reply may have no end. */
bool redis_conn_feed_one(struct redis_conn *conn);

/* Read once from the socket.  False: nothing had arrived, or the connection broke, see
 * its state. */
bool redis_conn_feed(struct redis_conn *conn);

/* The same, but sleeps for a while for it, as redis_wire_await() does. */
bool redis_conn_await(struct redis_conn *conn);

/* Take the next answer out of the bytes that were read.  False: there is none yet, or
 * the connection broke. */
bool redis_conn_next_answer(struct redis_conn *conn, struct redis_answer *out);

/* Has the connection bytes of an answer that was not taken? */
bool redis_conn_has_leftover(const struct redis_conn *conn);

/* Is an idle connection still open, and has the server sent nothing?  If not, the
 * connection can only be closed. */
bool redis_conn_is_idle(const struct redis_conn *conn);

/* Make the connection BROKEN, with the outcome and the reason `fmt`. */
void redis_conn_break(struct redis_conn *conn, enum redis_outcome outcome, const char *fmt,
                      ...) __attribute__((format(printf, 3, 4)));

#endif /* BASE_REDIS_CONNECTION_H */
