/* SPDX-License-Identifier: MIT */
/* redis_request.h -- requests to Redis (base/redis/) whose outcome is a dlock_status;
 * the reason of a failure is in dlock_error().
 *
 * IO: the request certainly did not leave, or was not executed.  UNKNOWN: it may have been
 * executed.  PROTOCOL: the server refused the request, or its answer does not have the
 * expected shape.
 *
 * Threads     Any, but for open. */
#ifndef DLOCK_REDIS_REQUEST_H
#define DLOCK_REDIS_REQUEST_H

#include "base/redis/acknowledged.h"
#include "base/redis/subscription.h"
#include "lock/dlock.h"

dlock_status redis_status(enum redis_outcome outcome);

/* Make a link to the server of `url`; see redis_link_new().  The second makes a link
 * that can be asked together with `first` and the links beside it.  OK, INVALID,
 * NOMEM. */
dlock_status redis_link_open(struct redis_link **out, const char *url, int timeout_ms,
                             bool slow_is_down);
dlock_status redis_link_open_beside(struct redis_link *first, struct redis_link **out,
                                    const char *url, int timeout_ms,
                                    bool slow_is_down);

/* See redis_subscription_new().  INVALID, NOMEM. */
dlock_status redis_subscription_open(struct redis_subscription **out, const char *url,
                                     int timeout_ms);

/* Send a command to one server and wait for its answer, until give_up_ns or the timeout
 * of the link. */
dlock_status redis_call(struct redis_link *link, const struct redis_command *command,
                        int64_t give_up_ns, struct redis_answer *answer);

/* Send a write that counts only when the link's number of replicas has acknowledged it
 * (base/redis/acknowledged.h).  UNKNOWN also if too few have.  The second runs a
 * script, with the fault points of redis_script_run(). */
dlock_status redis_call_write(struct redis_link *link, const struct redis_write *write,
                              int64_t give_up_ns, struct redis_answer *answer);
dlock_status redis_script_write(struct redis_link *link, const struct redis_write *write,
                                int64_t give_up_ns, struct redis_answer *answer);

/* PING the server, also if it has not answered lately. */
dlock_status redis_ping(struct redis_link *link);

/* Send the next command of a conversation, and wait for its answer.  IO also if an
 * earlier command failed. */
dlock_status redis_talk_say(struct redis_talk *talk,
                            const struct redis_command *command, int64_t give_up_ns,
                            struct redis_answer *answer);

/* Load the script into the server, and keep the hash that the server answers. */
dlock_status redis_script_load(struct redis_link *link, struct redis_script *script);

/* Run a script on one server, with the fault points before and after a request
 * (redis_fault.h).  The first key is the name of the lock. */
dlock_status redis_script_run(struct redis_link *link,
                              const struct redis_script_call *call, int64_t give_up_ns,
                              struct redis_answer *answer);

/* The same call without waiting for its answer (post.h).  OK: post->end() will be called
 * once.  IO: nothing was queued. */
dlock_status redis_script_leave(struct redis_link *link,
                                const struct redis_script_call *call,
                                struct redis_post *post);

#endif /* DLOCK_REDIS_REQUEST_H */
