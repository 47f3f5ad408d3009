/* SPDX-License-Identifier: MIT */
/* post.h -- a command whose sender does not wait: its answer is handed to a function.
 *
 * A post is queued by redis_link_post() like the request of an exchange (link.h): behind all
 * that was asked of the link before, and ahead of all that is asked later.  Nothing is sent
 * for its sake: the post leaves with the next exchange of any thread, or by
 * redis_link_push(), and the thread that drives the link reads its answer.  A request that is
 * sent after a post is answered after it.
 *
 * Ownership   The caller's, who leaves it in place until end() is called, or until the
 *             link is closed, which calls nothing.
 * Threads     Any. */
#ifndef BASE_REDIS_POST_H
#define BASE_REDIS_POST_H

#include <stddef.h>

#include "base/redis/leg.h"

struct redis_post {
    /* Filled in by the caller.  Called once, in any thread that uses the link, without a
     * mutex of this room: the answer, or why there is none, is in leg.answer.  It must not
     * wait for anything that a thread does with the link. */
    void (*end)(struct redis_post *post);
    /* The room's. */
    struct redis_leg leg;
    struct redis_request_leg trip;
    struct redis_post *next;
};

/* The post whose leg is under way. */
static inline struct redis_post *redis_post_of(struct redis_request_leg *trip)
{
    return (struct redis_post *)(void *)((char *)trip - offsetof(struct redis_post, trip));
}

#endif /* BASE_REDIS_POST_H */
