/* SPDX-License-Identifier: MIT */
/* link.h -- commands to Redis servers, by any number of threads.
 *
 * A link is one server: one connection to it, which all threads share.  What they ask
 * at the same time leaves together; the answers come back in order.  A request that its
 * caller gave up keeps its place, so that its answer, however late, is nobody else's.
 * If the oldest one has no answer within the link's timeout, or after any other error,
 * the connection is closed and never used again: that is the end of all requests on it.
 * Nothing is ever sent twice by itself.  A server that cannot be connected to is left
 * alone for a short while, which grows from 50 ms to half a second; calls in that time
 * fail at once.
 *
 * An exchange is one command to one or several servers at once, with one deadline.
 * What it answers for each: IO if the command certainly did not leave, or was not executed,
 * UNKNOWN if it may have been executed, PROTOCOL if the server refused it or answered what
 * does not have the command's shape; such an answer ends the connection.
 *
 * Threads     Any. */
#ifndef DLOCK_REDIS_LINK_H
#define DLOCK_REDIS_LINK_H

#include "base/redis/command.h"
#include "base/redis/leg.h"

struct redis_conn;

/* A conversation: one command after another on a connection that nobody else uses
 * meanwhile, for WATCH and MULTI.  One thread's.  All fields but link begin as
 * 0. */
struct redis_talk {
    struct redis_link *link;
    struct redis_conn *conn; /* NULL: not begun, or broken off by a failure */
    bool is_broken;
};

/* A link to the server of `url`; does not connect.  `slow_is_down`: a command that is
 * not answered in time counts like a failed connect.  INVALID, NOMEM. */
dlock_status redis_link_open(struct redis_link **out, const char *url, int timeout_ms,
                             bool slow_is_down);
void redis_link_close(struct redis_link *link);

/* The same, to be asked together with `first` and its other companions: an exchange
 * goes to companions only.  All are closed one by one, in any order. */
dlock_status redis_link_open_beside(struct redis_link *first, struct redis_link **out,
                                    const char *url, int timeout_ms,
                                    bool slow_is_down);

/* "host:port". */
const char *redis_link_label(const struct redis_link *link);

/* Is the server to be left alone now?  When the time for that is over, one caller is
 * told no, to find out whether it is back. */
bool redis_link_is_left_alone(struct redis_link *link);

/* Send one command to every leg's server and gather the answers.  It ends at the latest
 * after the longest timeout of the links (half as much again if this process was held
 * up itself), or at give_up_ns. */
void redis_exchange(struct redis_leg *legs, size_t leg_count,
                    const struct redis_command *command, int64_t give_up_ns);

/* The same for one server.  On failure dlock_error() tells. */
dlock_status redis_call(struct redis_link *link, const struct redis_command *command,
                        int64_t give_up_ns, struct redis_answer *answer);

/* The next command of a conversation, as redis_call().  After a failure every further
 * command is IO: what the server knew of the conversation went with its connection. */
dlock_status redis_talk_say(struct redis_talk *talk,
                            const struct redis_command *command, int64_t give_up_ns,
                            struct redis_answer *answer);

/* End it.  `is_clean`: nothing is watched and no transaction is open, so the connection
 * may serve others; otherwise it is closed, which makes the server forget both. */
void redis_talk_end(struct redis_talk *talk, bool is_clean);

/* PING it, even if it was left alone. */
dlock_status redis_ping(struct redis_link *link);

#endif /* DLOCK_REDIS_LINK_H */
