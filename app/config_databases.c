/* SPDX-License-Identifier: MIT */
/* config_databases.c -- the settings that name databases. */
#include "app/config_databases.h"

#include <stdio.h>

#include "app/config_addresses.h"

enum { WHY_MAX = 400 };

static bool is_lock_url(const char *url, const struct settings *s)
{
    char why[WHY_MAX];

    if (url == NULL || db_url_is_valid(url, why, sizeof(why)))
        return true;
    fprintf(stderr,
            "seckilld: --lock-database-url (%s) must be one "
            "postgresql://USER:PASSWORD@HOST:PORT/DATABASE: %s\n",
            config_source(s, "lock-database-url"), why);
    return false;
}

bool config_read_databases(const char *database_url, const char *lock_database_url,
                           const struct settings *s, struct partition_urls *out)
{
    char why[WHY_MAX];

    if (database_url == NULL) {
        fprintf(stderr, "seckilld: --database-url (or SECKILL_DATABASE_URL) is missing: "
                        "give the URL of PostgreSQL; a lab has one: . .lab/env\n");
        return false;
    }
    if (partition_urls_read(database_url, out, why, sizeof(why)))
        return is_lock_url(lock_database_url, s);
    fprintf(stderr,
            "seckilld: --database-url (%s) must be "
            "postgresql://USER:PASSWORD@HOST:PORT/DATABASE, or several of these with white "
            "space between them: %s\n",
            config_source(s, "database-url"), why);
    return false;
}
