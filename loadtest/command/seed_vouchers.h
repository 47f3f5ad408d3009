/* SPDX-License-Identifier: MIT */
/* seed_vouchers.h -- the vouchers that `seckill seed` makes, in one or several partitions. */
#ifndef LOADTEST_COMMAND_SEED_VOUCHERS_H
#define LOADTEST_COMMAND_SEED_VOUCHERS_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "base/text/exit_codes.h"

struct seed_vouchers {
    int64_t count, stock;
    const char *begin, *end; /* of the sale; NULL: the default */
    bool once;               /* make none where there are vouchers */
};

/* Check the times of the sale in every partition, before anything is written.  `urls` has the
 * databases.  Anything but EXIT_VALID: stderr says why. */
enum exit_code seed_vouchers_check(const struct seed_vouchers *vouchers, const char *urls);

/* Make the vouchers, and name each on `report` when it is committed.  *first is the id of the
 * first; 0: none was made.  Each partition has a transaction of its own, and none is committed
 * before all partitions have taken their vouchers.  If a COMMIT fails, stderr says what the
 * partitions before have kept.  EXIT_USAGE: a server refused.  EXIT_UNAVAILABLE: a server did not
 * answer. */
enum exit_code seed_vouchers_make(const struct seed_vouchers *vouchers, const char *urls,
                                  FILE *report, int64_t *first);

#endif /* LOADTEST_COMMAND_SEED_VOUCHERS_H */
