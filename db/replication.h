/* SPDX-License-Identifier: MIT */
/* replication.h -- what a PostgreSQL server and its standby say of each other, as the
 * laboratory asks them. */
#ifndef DB_REPLICATION_H
#define DB_REPLICATION_H

#include <stdbool.h>

#include "db/lab_db.h"

/* The part of a server. */
enum db_part {
    DB_PART_PRIMARY,    /* it takes writes                             */
    DB_PART_STREAMING,  /* a standby that gets the log of its primary  */
    DB_PART_ALONE,      /* a standby that is connected to no primary   */
};

/* False: lab_db_error() says why it did not say. */
bool db_replication_part(lab_db *db, enum db_part *part);

/* Of a primary: do all standbys that are connected, and at least one, have on their disks
 * what was committed?  False: lab_db_error() says why it did not say. */
bool db_replication_has_all(lab_db *db, bool *has_all);

/* From now on a COMMIT of this primary waits until the standby of that name has it on its
 * disk; NULL: no COMMIT waits.  False: lab_db_error() says why. */
bool db_replication_wait_for(lab_db *db, const char *standby);

/* Make a standby a primary, which it is when this returns.  False: lab_db_error() says why. */
bool db_replication_promote(lab_db *db);

#endif /* DB_REPLICATION_H */
