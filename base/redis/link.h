/* SPDX-License-Identifier: MIT */
/* link.h -- commands to Redis servers, by any number of threads.
 *
 * A link is one server: one connection to it, which all threads share.  Requests that
 * are made at the same time leave together; the answers come back in order.  A request that its
 * caller gave up keeps its place, so that its answer, however late, is nobody else's.
 * If the oldest one has no answer within the link's timeout, or after any other error,
 * the connection is closed and never used again: that is the end of all requests on it.
 * Nothing is ever sent twice by itself.  A server that cannot be connected to is left
 * alone for a short while, which grows from 50 ms to half a second; calls in that time
 * fail at once.
 *
 * The fibers of a loop (base/os/loop.h) have a connection of their own, since they drive it
 * only while their thread runs the loop: no more than one loop may ask a link.
 *
 * An exchange is one command to one or several servers at once, with one deadline.
 * Each exchange ends with an outcome (outcome.h); an answer that does not have the
 * command's shape ends the connection.
 *
 * Threads     Any, and the fibers of one loop. */
#ifndef DLOCK_REDIS_LINK_H
#define DLOCK_REDIS_LINK_H

#include "base/redis/command.h"
#include "base/redis/leg.h"
#include "base/redis/post.h"
#include "base/redis/url.h"

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
 * not answered in time counts like a failed connect.  `beside`: NULL, or a link with which
 * this one, and all that are beside it, can be asked together: an exchange goes to such
 * links only.  All are closed one by one, in any order.  NULL: no memory, or there are
 * REDIS_WIRE_LOOKS_MAX beside one another already. */
struct redis_link *redis_link_new(struct redis_link *beside, const struct redis_url *url,
                                  int timeout_ms, bool slow_is_down);
void redis_link_close(struct redis_link *link); /* NULL is fine */

/* "host:port". */
const char *redis_link_label(const struct redis_link *link);

/* Which of the masters that Sentinels have named since the link was made is the server: 1 for the
 * first, and one more after each fail-over.  What a master before the last one has answered may
 * be unknown to the last one.  0: none was named yet, or the address is fixed. */
uint64_t redis_link_era(const struct redis_link *link);

/* The same for the server that has `key`, where the servers of a link change one by one. */
uint64_t redis_link_key_era(const struct redis_link *link, const char *key);

/* Does the link stand for several servers, of which each has a part of the keys? */
bool redis_link_is_routed(const struct redis_link *link);

/* The script `text`, a constant, as the servers of the link have to get it: for SCRIPT LOAD and
 * EVAL.  NULL: no memory. */
const char *redis_link_script_text(const struct redis_link *link, const char *text);

/* Let what redis_write_exchange() writes (acknowledged.h) count once `count` replicas have it; 0, as
 * it is in the beginning: at once.  Before any thread uses the link. */
void redis_link_need_replicas(struct redis_link *link, int count);

/* Is the server to be left alone now?  When the time for that is over, one caller is
 * told no, to find out whether it is back. */
bool redis_link_is_left_alone(struct redis_link *link);

/* Send one command to every leg's server and gather the answers.  It ends at the latest
 * after the longest timeout of the links (half as much again if this process was held
 * up itself), or at give_up_ns. */
void redis_exchange(struct redis_leg *legs, size_t leg_count,
                    const struct redis_command *command, int64_t give_up_ns);

/* Queue `command` for the server, for nobody who waits (post.h).  False: the server is left
 * alone just now, or there is no memory, or too many requests are unanswered; post->end() is
 * not called then. */
bool redis_link_post(struct redis_link *link, const struct redis_command *command,
                     struct redis_post *post);

/* Send what is queued, without waiting for anything.  False: it cannot leave now, since there
 * is no connection yet; an exchange makes one. */
bool redis_link_push(struct redis_link *link);

/* Cut the connection that all threads share (a fiber: that of the fibers), as if the server
 * had closed it. */
void redis_link_cut(struct redis_link *link);

/* The next command of a conversation, answered as in an exchange.  After a failure every
 * further command is NOT_DONE: what the server knew of the conversation went with its
 * connection. */
void redis_talk_ask(struct redis_talk *talk, const struct redis_command *command,
                    int64_t give_up_ns, struct redis_answer *answer);

/* The same for an answer that is a longer text than struct redis_answer holds: a BULK goes to
 * `text`, which has room for `size` bytes with the NUL behind it.  answer->len is the length
 * as it was sent; one of `size` or more was cut. */
void redis_talk_ask_text(struct redis_talk *talk, const struct redis_command *command,
                         int64_t give_up_ns, char *text, size_t size,
                         struct redis_answer *answer);

/* Ask how many replicas have all that this conversation has written: an INTEGER, as soon as that
 * is `count`, or after the link's timeout, or at give_up_ns. */
void redis_talk_await_replicas(struct redis_talk *talk, int count, int64_t give_up_ns,
                               struct redis_answer *answer);

/* Cut the conversation's connection, if it has one. */
void redis_talk_cut(struct redis_talk *talk);

/* End it.  `is_clean`: nothing is watched and no transaction is open, so the connection
 * may serve others; otherwise it is closed, which makes the server forget both. */
void redis_talk_end(struct redis_talk *talk, bool is_clean);

#endif /* DLOCK_REDIS_LINK_H */
