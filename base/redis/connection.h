/* SPDX-License-Identifier: MIT */
/* connection.h -- one connection to one Redis server, driven without blocking.
 *
 * Only for stores/: it shows hiredis.  hiredis resolves the host, opens the socket,
 * formats commands and parses replies; sending and receiving are done here, so that one
 * absolute deadline bounds a command whatever the server drips, and so that a peer that
 * closed raises no SIGPIPE.  Resolving a host name is the one thing that can block for
 * longer; addresses do not.
 *
 * Threads     One at a time. */
#ifndef DLOCK_REDIS_CONN_H
#define DLOCK_REDIS_CONN_H

#include <hiredis/hiredis.h>
#include <stdint.h>

#include "base/redis/answer.h"
#include "base/redis/message.h"
#include "base/redis/url.h"
#include "lock/dlock.h"

enum { REDIS_WHY_SIZE = 160 };

enum redis_conn_state {
    REDIS_CONNECTING,
    REDIS_GREETING, /* AUTH and SELECT are under way */
    REDIS_READY,
    REDIS_BROKEN,   /* `status` and `why` say how; only good for closing */
};

enum { REDIS_GREETINGS_MAX = 2 }; /* AUTH and SELECT */

struct redis_conn {
    redisContext *context;
    const struct redis_url *url;
    enum redis_conn_state state;
    short wants; /* what redis_conn_advance() answered last */
    dlock_status status;
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
void redis_conn_close(struct redis_conn *conn);

/* Go on as far as it goes without blocking.  Answers what to poll for (POLLIN, POLLOUT)
 * while CONNECTING or GREETING, otherwise 0. */
short redis_conn_advance(struct redis_conn *conn);

/* Advance until ready or broken, at the latest until `give_up_ns`. */
void redis_conn_finish(struct redis_conn *conn, int64_t give_up_ns);

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

/* Take the next answer out of what was read.  False: there is none yet; or broken. */
bool redis_conn_next_answer(struct redis_conn *conn, struct redis_answer *out);

/* Is there a part of an answer that was read and not taken? */
bool redis_conn_has_leftover(const struct redis_conn *conn);

/* Is an idle connection fit for use: still open and silent? */
bool redis_conn_is_idle(const struct redis_conn *conn);

/* The connection is unusable because of `fmt`. */
void redis_conn_break(struct redis_conn *conn, dlock_status status, const char *fmt,
                      ...) __attribute__((format(printf, 3, 4)));

#endif /* DLOCK_REDIS_CONN_H */
