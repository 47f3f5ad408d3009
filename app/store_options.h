/* SPDX-License-Identifier: MIT */
/* store_options.h -- how the settings want the stores to be asked. */
#ifndef APP_STORE_OPTIONS_H
#define APP_STORE_OPTIONS_H

#include "app/config.h"
#include "db/conn.h"
#include "lock/dlock.h"

/* The options of the connections to a partition's PostgreSQL, and of the service's lock, as
 * the settings want them.  They lend the texts of the settings. */
struct db_options stores_database_options(const struct config *c, size_t partition);
dlock_options stores_lock_options(const struct config *c);

#endif /* APP_STORE_OPTIONS_H */
