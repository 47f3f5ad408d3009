/* SPDX-License-Identifier: MIT */
/* backend.h -- the server's own processes, one for each connection, as the laboratory
 * sees and ends them. */
#ifndef DB_BACKEND_H
#define DB_BACKEND_H

#include <stdbool.h>
#include <stddef.h>

#include "db/issue.h"

enum { DB_BACKENDS_MAX = 64, DB_START_MAX = 64 };

/* The backends that hold the lock `name` with their session; if `name` is NULL, those of
 * the service that are inside a transaction, and so have an order in their hands. 
 * *count: how many, at most DB_BACKENDS_MAX. */
bool db_backends_of(lab_db *db, const char *name, int pids[DB_BACKENDS_MAX],
                    size_t *count);

/* End one as an operator would, and wait until it is gone.  *gone: it is. */
bool db_backend_end(lab_db *db, int pid, bool *gone);

/* The server's own process of that backend_type, such as "walwriter". */
bool db_process_of(lab_db *db, const char *type, int *pid);

/* The number of connections that the service's role may have at once; -1: as many as there is room
 * for.  Those that it has beyond a new limit stay. */
bool db_service_limit(lab_db *db, int *limit);
bool db_limit_service(lab_db *db, int limit);

/* When the server was started, as it says itself. */
bool db_start_time(lab_db *db, char out[DB_START_MAX]);

#endif /* DB_BACKEND_H */
