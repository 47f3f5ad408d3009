/* SPDX-License-Identifier: MIT */
/* backend.h -- finding and ending the server's backend processes, one for each
 * connection, for the laboratory. */
#ifndef DB_BACKEND_H
#define DB_BACKEND_H

#include <stdbool.h>
#include <stddef.h>

#include "db/issue.h"

enum { DB_BACKENDS_MAX = 64, DB_START_MAX = 64 };

/* Find the backends whose session holds the lock `name` of pg-advisory or pg-row.  If
 * `name` is NULL, find those of the service's role that are inside a transaction: that
 * of an order, or that of a lock of pg-row.  *count is their number, at most
 * DB_BACKENDS_MAX. */
bool db_backends_of(lab_db *db, const char *name, int pids[DB_BACKENDS_MAX],
                    size_t *count);

/* End a backend with pg_terminate_backend(), and wait for its end.  *gone: it has
 * ended. */
bool db_backend_end(lab_db *db, int pid, bool *gone);

/* Find the server's process of that backend_type, such as "walwriter", which serves
 * that client by its application_name; "": it serves none.  False: *pid is 0, because
 * the server did not answer, or has no such process, or several. */
bool db_process_of(lab_db *db, const char *type, const char *client, int *pid);

/* Read and set the number of connections that the service's role may have at once; -1:
 * no limit.  Connections beyond a new limit stay open. */
bool db_service_limit(lab_db *db, int *limit);
bool db_limit_service(lab_db *db, int limit);

/* Read the time at which the server was started, as text. */
bool db_start_time(lab_db *db, char out[DB_START_MAX]);

#endif /* DB_BACKEND_H */
