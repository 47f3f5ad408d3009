/* SPDX-License-Identifier: MIT */
/* replication.h -- the laboratory's questions to a PostgreSQL server and its standby
 * about replication. */
#ifndef DB_REPLICATION_H
#define DB_REPLICATION_H

#include <stdbool.h>

#include "db/lab_db.h"

/* The role of a server in replication. */
enum db_role {
    DB_ROLE_PRIMARY,    /* it takes writes                             */
    DB_ROLE_STREAMING,  /* a standby that gets the log of its primary  */
    DB_ROLE_ALONE,      /* a standby that is connected to no primary   */
};

/* Read the role of a server.  False: lab_db_error() has the reason. */
bool db_replication_role(lab_db *db, enum db_role *role);

/* Ask a primary: *has_all is true if at least one standby is connected, and every
 * connected standby has all commits on its disk.  False: lab_db_error() has the
 * reason. */
bool db_replication_has_all(lab_db *db, bool *has_all);

/* From now on a COMMIT of this primary waits until the standby of that name has it on its
 * disk; NULL: no COMMIT waits.  False: lab_db_error() says why. */
bool db_replication_wait_for(lab_db *db, const char *standby);

/* Promote a standby, and wait until it is a primary.  False: lab_db_error() has the
 * reason. */
bool db_replication_promote(lab_db *db);

#endif /* DB_REPLICATION_H */
