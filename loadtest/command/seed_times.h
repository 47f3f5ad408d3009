/* SPDX-License-Identifier: MIT */
/* seed_times.h -- whether a sale can have the times that `seckill seed` was given. */
#ifndef LOADTEST_COMMAND_SEED_TIMES_H
#define LOADTEST_COMMAND_SEED_TIMES_H

#include "base/text/exit_codes.h"
#include "db/lab_db.h"

/* Check the values of --begin and --end; NULL: the flag was not given.  EXIT_VALID: a sale can have
 * them.  EXIT_USAGE, EXIT_UNAVAILABLE: stderr says why not. */
enum exit_code seed_times_check(lab_db *db, const char *begin, const char *end);

#endif /* LOADTEST_COMMAND_SEED_TIMES_H */
