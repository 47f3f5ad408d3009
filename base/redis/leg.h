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
    const struct redis_shape *shape;     /* the exchange sets it: that of the command   */
    struct redis_answer answer; /* out */
};

#endif /* DLOCK_REDIS_LEG_H */
