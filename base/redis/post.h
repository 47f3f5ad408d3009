/* SPDX-License-Identifier: MIT */
/* post.h -- a command whose sender does not wait: a function gets its answer.
 *
 * A post is queued by redis_link_post() like the request of an exchange (link.h): after
 * all earlier requests of the link, and before all later ones.  A post alone causes no
 * sending: it is sent with the next exchange of any thread, or by redis_link_push().
 * The thread that drives the link reads the answer.  A request that is sent after a
 * post is answered after it.
 *
 * Ownership   The caller owns the post, and keeps it in place until end() is called or
 *             the link is closed.  Closing the link does not call end().
 * Threads     Any. */
#ifndef BASE_REDIS_POST_H
#define BASE_REDIS_POST_H

#include <stddef.h>

#include "base/redis/leg.h"

struct redis_post {
    /* Set by the caller.  Called once, by any thread that uses the link, and without a
     * mutex of base/redis/. leg.answer has the answer, or the reason why there is none.
     * end() must not wait for another thread that uses the link. */
    void (*end)(struct redis_post *post);
    /* For base/redis/ alone. */
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
