/* SPDX-License-Identifier: MIT */
/* redis_rights.h -- does the user of a Redis have the rights to the commands of a lock?
 *
 * Threads     Any. */
#ifndef DLOCK_REDIS_RIGHTS_H
#define DLOCK_REDIS_RIGHTS_H

#include <stddef.h>

#include "lock/stores/redis_request.h"

enum { REDIS_RIGHTS_SIZE = 512 };

/* The commands that a lock sends: `commands` (separated by blanks, may be ""), EVALSHA if it has
 * scripts, and the commands of its scripts; WAIT, if replicas have to acknowledge.  The channels do
 * not matter, because a PUBLISH that is refused fails no release. */
struct redis_rights {
    const char *commands;
    size_t script_count;
    const struct redis_script *const *scripts;
    char asked[REDIS_RIGHTS_SIZE]; /* written by redis_rights_call() */
};

/* The call that asks a server whether the user may send all of it, and changes nothing: 1, or a
 * refusal that names what is missing.  It points into `rights`. */
struct redis_script_call redis_rights_call(struct redis_rights *rights);

/* Ask one server.  OK; PROTOCOL, and dlock_error() names what is missing; or a failure of the
 * request. */
dlock_status redis_rights_check(struct redis_link *link, struct redis_rights rights);

#endif /* DLOCK_REDIS_RIGHTS_H */
