/* SPDX-License-Identifier: MIT */
/* store_options.h -- makes the options of the stores' connections from the settings. */
#ifndef APP_STORE_OPTIONS_H
#define APP_STORE_OPTIONS_H

#include "app/config.h"
#include "db/conn.h"
#include "lock/dlock.h"

/* The options of the connections to a partition's PostgreSQL, and of the service's
 * lock.  Their texts point into the settings. */
struct db_options stores_database_options(const struct config *c, size_t partition);
dlock_options stores_lock_options(const struct config *c);

/* The mark of the sessions in PostgreSQL, by which services see each other's settings: a
 * hash of lock, scope, stores and stream, and the bit STORES_MARK_BINDS if this service
 * would sell twice beside one with another hash. */
enum { STORES_MARK_BINDS = 1 << 30 };
int stores_mark(const struct config *c);

#endif /* APP_STORE_OPTIONS_H */
