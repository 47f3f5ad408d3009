/* SPDX-License-Identifier: MIT */
/* leg.h -- one server's part in an exchange of link.h. */
#ifndef DLOCK_REDIS_LEG_H
#define DLOCK_REDIS_LEG_H

#include "base/redis/answer.h"
#include "base/redis/command.h"

struct redis_link;

struct redis_leg {
    struct redis_link *link;
    bool despite_failure; /* ask even if the server has just failed */
    bool unawaited; /* the exchange does not wait for this leg; implies despite_failure */
    bool asking;    /* send ASKING first: the slot is moving to this node */
    const struct redis_shape *shape;     /* of the command; set by the exchange */
    struct redis_answer answer; /* out */
};

struct redis_wait;

/* A leg under way. */
struct redis_request_leg {
    struct redis_leg *leg;
    struct redis_wait *wait; /* NULL: the leg of a post (post.h), for which no thread
                              * waits */
    bool is_over;
};

#endif /* DLOCK_REDIS_LEG_H */
