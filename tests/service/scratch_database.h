/* SPDX-License-Identifier: MIT */
/* scratch_database.h -- a database of the test's own in the lab's PostgreSQL, with the schema.
 *
 * Threads     One.
 */
#ifndef TESTS_SERVICE_SCRATCH_DATABASE_H
#define TESTS_SERVICE_SCRATCH_DATABASE_H

#include <stdbool.h>

#include "db/lab_db.h"

/* Make it, and connect.  Its name begins with `name`.  Commits do not wait until they are on the
 * disk, since nothing outlives the program. */
bool scratch_database_make(const char *name, lab_db **db);

const char *scratch_database_url(void);

/* Close the connection and drop the database; *db becomes NULL. */
bool scratch_database_drop(lab_db **db);

#endif /* TESTS_SERVICE_SCRATCH_DATABASE_H */
