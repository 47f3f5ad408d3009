/* SPDX-License-Identifier: MIT */
/* standby.h -- the standbys of a lab's PostgreSQL. */
#ifndef LOADTEST_LAB_STANDBY_H
#define LOADTEST_LAB_STANDBY_H

#include "db/replication.h"
#include "loadtest/lab/lab.h"

/* The role of one PostgreSQL server of the lab, by its own port.  False: it did not say. */
bool lab_standby_role(const struct lab *lab, const struct lab_server *server,
                      enum db_role *role);

/* Promote a standby, and wait until it takes writes.  False: `why` says why not. */
bool lab_standby_promote(const struct lab *lab, const struct lab_server *server,
                         char why[LAB_WHY_MAX]);

#endif /* LOADTEST_LAB_STANDBY_H */
