/* SPDX-License-Identifier: MIT */
/* watch.h -- a thread that asks Sentinels for the master, and keeps the answer
 * (master.h).
 *
 * The thread is connected to one Sentinel at a time.  It asks for the master,
 * subscribes to +switch-master, and goes to the next Sentinel, so that each Sentinel is
 * asked once a second while all of them answer.  The thread asks all of them, because
 * the Sentinel that leads a fail-over names the new master before the others do, and
 * before +switch-master.
 *
 * Only for base/redis/.
 *
 * Threads     Any; `named` is called by the thread of the watch. */
#ifndef BASE_REDIS_WATCH_H
#define BASE_REDIS_WATCH_H

#include "base/redis/connection.h"
#include "base/redis/sentinel.h"

struct redis_watch;

/* Start the thread, which asks the Sentinels of `url`; the URL outlives the watch.  The
 * thread calls `named` with `arg` after each new era (master.h); *out is set by then.
 * False: no memory, event or thread, and *out is NULL. */
bool redis_watch_open(struct redis_watch **out, const struct redis_url *url,
                      void (*named)(void *arg), void *arg);

/* Stop the thread and free the watch.  `named` is not called any more.  NULL is
 * fine. */
void redis_watch_close(struct redis_watch *watch);

/* The present era; 0: no address was named yet, or the watch is NULL. */
uint64_t redis_watch_era(const struct redis_watch *watch);

/* Does the connection, which was READY, lead to the master of an earlier era?  False where the
 * watch is NULL. */
bool redis_watch_is_elsewhere(const struct redis_watch *watch, const struct redis_conn *conn);

/* For opening a connection. redis_watch_first() returns the index of the Sentinel to
 * ask first, another one with each call until a Sentinel answers. redis_watch_hear()
 * takes in an answer, and returns what redis_master_hear() returns. */
int redis_watch_first(struct redis_watch *watch);
uint64_t redis_watch_hear(struct redis_watch *watch, int number,
                          const struct redis_view *view);

#endif /* BASE_REDIS_WATCH_H */
