/* SPDX-License-Identifier: MIT */
/* resolve.h -- the way from Sentinels to the master, as steps of one connection.
 *
 * A connection whose URL names Sentinels asks one of them for the master, beginning with the
 * Sentinel that answered last, connects to the address, and asks the server there for its ROLE.
 * A Sentinel or a server that does not answer within 300 ms, or does not answer what leads to a
 * master, makes the connection turn to the next Sentinel.  After each Sentinel was asked once
 * the connection is BROKEN, with the reason of the last one.
 *
 * Only for this room.
 *
 * Threads     One at a time, that of the connection. */
#ifndef BASE_REDIS_RESOLVE_H
#define BASE_REDIS_RESOLVE_H

#include "base/redis/watch.h"

/* As redis_conn_open(), where `url` may name Sentinels.  `watch` outlives the connection and
 * judges what the Sentinels say; NULL where `url` names none. */
struct redis_conn *redis_resolve_open(const struct redis_url *url, struct redis_watch *watch);

#endif /* BASE_REDIS_RESOLVE_H */
