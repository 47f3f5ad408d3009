/* SPDX-License-Identifier: MIT */
/* redis_request.h -- requests to Redis (base/redis/), with what became of them as the
 * library's own status: the reason of a failure is in dlock_error().
 *
 * IO: the request certainly did not leave, or was not executed.  UNKNOWN: it may have been
 * executed.  PROTOCOL: the server refused it or answered what does not have its shape.
 *
 * Threads     Any, but for open. */
#ifndef DLOCK_REDIS_REQUEST_H
#define DLOCK_REDIS_REQUEST_H

#include "base/redis/acknowledged.h"
#include "base/redis/subscription.h"
#include "lock/dlock.h"

dlock_status redis_status(enum redis_outcome outcome);

/* A link to the server of `url`, or one to be asked together with `first` and those beside
 * it; see redis_link_new().  INVALID, NOMEM. */
dlock_status redis_link_open(struct redis_link **out, const char *url, int timeout_ms,
                             bool slow_is_down);
dlock_status redis_link_open_beside(struct redis_link *first, struct redis_link **out,
                                    const char *url, int timeout_ms,
                                    bool slow_is_down);

/* See redis_subscription_new().  INVALID, NOMEM. */
dlock_status redis_subscription_open(struct redis_subscription **out, const char *url,
                                     int timeout_ms);

/* An exchange with one server. */
dlock_status redis_call(struct redis_link *link, const struct redis_command *command,
                        int64_t give_up_ns, struct redis_answer *answer);

/* A write that counts once replicas have it, if the link needs any (base/redis/acknowledged.h).
 * UNKNOWN, too, if too few have acknowledged it.  The second is a script, at the fault points of
 * redis_script_run(). */
dlock_status redis_call_write(struct redis_link *link, const struct redis_write *write,
                              int64_t give_up_ns, struct redis_answer *answer);
dlock_status redis_script_write(struct redis_link *link, const struct redis_write *write,
                                int64_t give_up_ns, struct redis_answer *answer);

/* PING the server, even if it was left alone. */
dlock_status redis_ping(struct redis_link *link);

/* The next command of a conversation.  IO if an earlier one failed. */
dlock_status redis_talk_say(struct redis_talk *talk,
                            const struct redis_command *command, int64_t give_up_ns,
                            struct redis_answer *answer);

/* Ask the server to keep the script, which tells its hash. */
dlock_status redis_script_load(struct redis_link *link, struct redis_script *script);

/* A call of a script on one server, at the fault points before and after a request
 * (redis_fault.h), under the lock that is its first key. */
dlock_status redis_script_run(struct redis_link *link,
                              const struct redis_script_call *call, int64_t give_up_ns,
                              struct redis_answer *answer);

/* The same call without waiting for its answer (post.h).  OK: post->end() will be called
 * once.  IO: nothing was queued. */
dlock_status redis_script_leave(struct redis_link *link,
                                const struct redis_script_call *call,
                                struct redis_post *post);

#endif /* DLOCK_REDIS_REQUEST_H */
