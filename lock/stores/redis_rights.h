/* SPDX-License-Identifier: MIT */
/* redis_rights.h -- does the user of a Redis have the rights to the commands of a lock?
 *
 * Threads     Any. */
#ifndef DLOCK_REDIS_RIGHTS_H
#define DLOCK_REDIS_RIGHTS_H

#include <stddef.h>

#include "lock/stores/redis_request.h"

/* Ask whether the user may send EVALSHA, `commands` (separated by blanks, may be "") and
 * what the scripts send.  Changes nothing.  The channels do not matter, because a PUBLISH
 * that is refused fails no release.  OK; PROTOCOL, and dlock_error() names what is missing;
 * or a failure of the request. */
dlock_status redis_rights_check(struct redis_link *link, const char *commands,
                                const struct redis_script *const *scripts, size_t count);

#endif /* DLOCK_REDIS_RIGHTS_H */
