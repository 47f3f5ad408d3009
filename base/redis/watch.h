/* SPDX-License-Identifier: MIT */
/* watch.h -- a thread that asks Sentinels which server is the master, and what is known of that.
 *
 * The thread is connected to one Sentinel at a time: it asks that one for the master, subscribes
 * to +switch-master there, and turns to the next Sentinel, so that each is asked once in a second
 * while all of them answer.  The Sentinel that leads a fail-over names the new master before the
 * others do, and before +switch-master.
 *
 * Only for this room.
 *
 * Threads     Any; `named` is called by the thread of the watch. */
#ifndef BASE_REDIS_WATCH_H
#define BASE_REDIS_WATCH_H

#include "base/redis/connection.h"
#include "base/redis/sentinel.h"

struct redis_watch;

/* Begin to ask the Sentinels of `url`, which outlives the watch.  `named` is called with `arg`
 * after each new era (master.h), and finds *out filled in.  False: no memory, event or thread,
 * and *out is NULL. */
bool redis_watch_open(struct redis_watch **out, const struct redis_url *url,
                      void (*named)(void *arg), void *arg);

/* Stop the thread, in which `named` is not called any more.  NULL is fine. */
void redis_watch_close(struct redis_watch *watch);

/* The era of now; 0: no address was named yet, or the watch is NULL. */
uint64_t redis_watch_era(const struct redis_watch *watch);

/* Does the connection, which was READY, lead to the master of an earlier era?  False where the
 * watch is NULL. */
bool redis_watch_is_elsewhere(const struct redis_watch *watch, const struct redis_conn *conn);

/* For the steps of a connection: the Sentinel to begin with, which changes with every call
 * until one answers; and what it has said, answered as redis_master_hear() does. */
int redis_watch_first(struct redis_watch *watch);
uint64_t redis_watch_hear(struct redis_watch *watch, int number,
                          const struct redis_view *view);

#endif /* BASE_REDIS_WATCH_H */
