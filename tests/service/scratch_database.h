/* SPDX-License-Identifier: MIT */
/* scratch_database.h -- makes a database with the schema for one test program, in the lab's
 * PostgreSQL.
 *
 * Threads     One.
 */
#ifndef TESTS_SERVICE_SCRATCH_DATABASE_H
#define TESTS_SERVICE_SCRATCH_DATABASE_H

#include <stdbool.h>

#include "db/lab_db.h"

/* Make the database, and connect. Its name begins with `name`. A COMMIT does not wait for the disk,
 * because no data has to outlive the program. */
bool scratch_database_make(const char *name, lab_db **db);

const char *scratch_database_url(void);

/* Close the connection and drop the database; *db becomes NULL. */
bool scratch_database_drop(lab_db **db);

#endif /* TESTS_SERVICE_SCRATCH_DATABASE_H */
