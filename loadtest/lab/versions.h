/* SPDX-License-Identifier: MIT */
/* versions.h -- the versions of the programs that a run was made with. */
#ifndef LOADTEST_LAB_VERSIONS_H
#define LOADTEST_LAB_VERSIONS_H

#include <jansson.h>

/* {"PostgreSQL": "postgres (PostgreSQL) 15.20 ...", "Redis": ..., "wrk": ...}: the first line
 * that each prints when it is asked; what is not installed is left out.  The caller owns it. */
json_t *lab_versions(void);

#endif /* LOADTEST_LAB_VERSIONS_H */
