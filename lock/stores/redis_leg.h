/* SPDX-License-Identifier: MIT */
/* redis_leg.h -- one server's part in an exchange of redis_link.h. */
#ifndef DLOCK_REDIS_LEG_H
#define DLOCK_REDIS_LEG_H

#include "lock/stores/redis_answer.h"
#include "lock/stores/redis_command.h"

struct redis_link;

struct redis_leg {
    struct redis_link *link;
    bool insist;   /* try even if the server was left alone                */
    bool courtesy; /* the others' answers end the exchange; implies insist */
    enum redis_shape shape;     /* the exchange sets it: that of the command   */
    struct redis_answer answer; /* out */
};

#endif /* DLOCK_REDIS_LEG_H */
