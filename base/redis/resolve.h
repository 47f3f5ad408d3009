/* SPDX-License-Identifier: MIT */
/* resolve.h -- finds the master by asking Sentinels, as steps of opening one
 * connection.
 *
 * A connection whose URL names Sentinels asks one of them for the master, beginning with the
 * Sentinel that answered last, connects to the address, and asks the server there for its ROLE.
 * If a Sentinel or a server does not answer within 300 ms, or its answer does not lead
 * to a master, the connection goes to the next Sentinel.  When every Sentinel was asked
 * once, the connection is BROKEN, with the reason of the last one.
 *
 * Only for base/redis/.
 *
 * Threads     One at a time, that of the connection. */
#ifndef BASE_REDIS_RESOLVE_H
#define BASE_REDIS_RESOLVE_H

#include "base/redis/watch.h"

/* As redis_conn_open(), where `url` may name Sentinels.  `watch` outlives the
 * connection, and decides which answers of Sentinels count; NULL if `url` names no
 * Sentinels. */
struct redis_conn *redis_resolve_open(const struct redis_url *url, struct redis_watch *watch);

#endif /* BASE_REDIS_RESOLVE_H */
