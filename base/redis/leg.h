/* SPDX-License-Identifier: MIT */
/* leg.h -- one server's part in an exchange of link.h. */
#ifndef DLOCK_REDIS_LEG_H
#define DLOCK_REDIS_LEG_H

#include "base/redis/answer.h"
#include "base/redis/command.h"

struct redis_link;

struct redis_leg {
    struct redis_link *link;
    bool insist;   /* try even if the server was left alone                */
    bool courtesy; /* the others' answers end the exchange; implies insist */
    bool asking;   /* send ASKING before: the node is to answer for a slot that comes to it */
    const struct redis_shape *shape;     /* the exchange sets it: that of the command   */
    struct redis_answer answer; /* out */
};

struct redis_wait;

/* A leg under way. */
struct redis_request_leg {
    struct redis_leg *leg;
    struct redis_wait *wait; /* NULL: nobody waits, and it is that of a post (post.h) */
    bool is_over;
};

#endif /* DLOCK_REDIS_LEG_H */
