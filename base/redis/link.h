/* SPDX-License-Identifier: MIT */
/* link.h -- commands to Redis servers, by any number of threads.
 *
 * A link is one server: one connection to it, which all threads share.  Requests that
 * are made at the same time are sent together, and the answers come back in order.  A
 * request that its caller has given up keeps its place in the order, so that its late
 * answer is not taken for another one.  If the oldest request has no answer within the
 * link's timeout, or after any other error, the connection is closed, and all its
 * requests end.  The link never repeats a request by itself.  After a failed connect
 * the server is not asked for a short time, which grows from 50 ms to half a second;
 * calls in that time fail at once.  Below this is called "left alone".
 *
 * The fibers of a loop (base/os/loop.h) have a connection of their own, because they
 * read it only while their thread runs the loop.  So only two loops may use a link: one
 * of the program, and one of the library (fiber.h, is_inner).
 *
 * An exchange is one command to one or several servers at once, with one deadline.
 * Each exchange ends with an outcome (outcome.h); an answer that does not have the
 * command's shape ends the connection.
 *
 * Threads     Any, and the fibers of two loops. */
#ifndef DLOCK_REDIS_LINK_H
#define DLOCK_REDIS_LINK_H

#include "base/redis/command.h"
#include "base/redis/leg.h"
#include "base/redis/post.h"
#include "base/redis/url.h"

struct redis_conn;

/* A conversation: one command after another on a connection that no other thread uses
 * meanwhile, for WATCH and MULTI. It belongs to one thread.  All fields but `link`
 * begin as 0. */
struct redis_talk {
    struct redis_link *link;
    struct redis_conn *conn; /* NULL: not begun, or broken off by a failure */
    bool is_broken;
};

/* Make a link to the server of `url`, without connecting.  `slow_is_down`: a command
 * without an answer in time counts like a failed connect.  `beside`: NULL, or an
 * existing link; an exchange can ask this link together with `beside` and the links
 * beside that.  Each link is closed by itself, in any order.  NULL: no memory, or
 * REDIS_WIRE_LOOKS_MAX links are beside one another already. */
struct redis_link *redis_link_new(struct redis_link *beside, const struct redis_url *url,
                                  int timeout_ms, bool slow_is_down);
void redis_link_close(struct redis_link *link); /* NULL is fine */

/* "host:port". */
const char *redis_link_label(const struct redis_link *link);

/* The era of the master that Sentinels name: 1 for the first master since the link was
 * made, and one more after each fail-over.  A later master may not have the writes of
 * an earlier one. 0: no master was named yet, or the address is fixed. */
uint64_t redis_link_era(const struct redis_link *link);

/* The same for the server that has `key`, if the link stands for several servers. */
uint64_t redis_link_key_era(const struct redis_link *link, const char *key);

/* Does the link stand for several servers, of which each has a part of the keys? */
bool redis_link_is_routed(const struct redis_link *link);

/* The text that the servers of the link need for the script `text`, a constant, in
 * SCRIPT LOAD and EVAL. NULL: no memory. */
const char *redis_link_script_text(const struct redis_link *link, const char *text);

/* Set the number of replicas that a write of redis_write_exchange() needs
 * (acknowledged.h); 0, the initial number: none.  Must come before any thread uses the
 * link. */
void redis_link_need_replicas(struct redis_link *link, int count);
int redis_link_replicas_needed(const struct redis_link *link);

/* Is the server left alone now (see above)?  When that time has passed, one caller gets
 * false, and its request finds out if the server is back. */
bool redis_link_is_left_alone(struct redis_link *link);

/* Send one command to every leg's server, and wait for the answers.  Ends at
 * give_up_ns, or after the longest timeout of the links (one and a half times that if
 * this process itself was stopped for a while; on a routed link up to a quarter more, if
 * servers redirect the command). */
void redis_exchange(struct redis_leg *legs, size_t leg_count,
                    const struct redis_command *command, int64_t give_up_ns);

/* Queue `command` for the server as a post, for whose answer no thread waits (post.h).
 * False: the server is left alone now, there is no memory, or too many requests are
 * unanswered; post->end() is then not called. */
bool redis_link_post(struct redis_link *link, const struct redis_command *command,
                     struct redis_post *post);

/* Send the queued requests, without waiting.  False: some stay queued, because there is no
 * connection yet; an exchange makes one. */
bool redis_link_push(struct redis_link *link);

/* Cut the connection that all threads share (called in a fiber: that of the fibers), as
 * if the server had closed it. */
void redis_link_cut(struct redis_link *link);

/* The next command of a conversation, answered as in an exchange.  After a failure
 * every further command is NOT_DONE, because the server has forgotten the conversation
 * with its connection. */
void redis_talk_ask(struct redis_talk *talk, const struct redis_command *command,
                    int64_t give_up_ns, struct redis_answer *answer);

/* The same for an answer that is a longer text than struct redis_answer holds: a BULK goes to
 * `text`, which has room for `size` bytes with the NUL behind it.  answer->len is the length
 * as it was sent; one of `size` or more was cut. */
void redis_talk_ask_text(struct redis_talk *talk, const struct redis_command *command,
                         int64_t give_up_ns, char *text, size_t size,
                         struct redis_answer *answer);

/* Send WAIT: *answer is the number of replicas that have all writes of this
 * conversation, as soon as the number is `count`, or after the link's timeout, or at
 * give_up_ns. */
void redis_talk_await_replicas(struct redis_talk *talk, int count, int64_t give_up_ns,
                               struct redis_answer *answer);

/* Cut the conversation's connection, if it has one. */
void redis_talk_cut(struct redis_talk *talk);

/* End it.  `is_clean`: no key is watched and no transaction is open, so the connection
 * can be used again; otherwise it is closed, which makes the server forget both. */
void redis_talk_end(struct redis_talk *talk, bool is_clean);

#endif /* DLOCK_REDIS_LINK_H */
