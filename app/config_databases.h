/* SPDX-License-Identifier: MIT */
/* config_databases.h -- the settings that name databases. */
#ifndef APP_CONFIG_DATABASES_H
#define APP_CONFIG_DATABASES_H

#include "base/text/settings.h"
#include "db/partition.h"

/* Read the value of --database-url, and check the value of --lock-database-url; NULL:
 * not given.  False: standard error names the wrong setting, its source and the
 * mistake. */
bool config_read_databases(const char *database_url, const char *lock_database_url,
                           const struct settings *s, struct partition_urls *out);

#endif /* APP_CONFIG_DATABASES_H */
