/* SPDX-License-Identifier: MIT */
/* buyers.h -- the clients of an open loop: their orders, and the ledger of their answers.
 *
 * Every request has a token of its own buyer and an Idempotency-Key of its own.  The ledger is
 * the file that wrk's scripts write, see audit/ledger.h.
 *
 * Threads     One.
 */
#ifndef LOADTEST_OPEN_LOOP_BUYERS_H
#define LOADTEST_OPEN_LOOP_BUYERS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/http/token.h"
#include "loadtest/open_loop/generator.h"
#include "loadtest/sale/remote_service.h"

struct buyers_plan {
    const char *dir;           /* of the run: ledger-1.tsv                               */
    const struct token_keys *keys; /* make the tokens                                    */
    const struct remote_service *remote; /* NULL: 127.0.0.1; else its host for the field Host, and
                                * its buyers in turn instead of the keys                 */
    const char *face;          /* hmdp or v1                                             */
    const int *ports;          /* of the service's processes, for the field Host         */
    const int64_t *vouchers;   /* each request asks for the next one                     */
    int voucher_count;
    void (*tick)(void *arg, int64_t since_begin_ns); /* called as generator_client's; NULL: none */
    void *tick_arg;
    int64_t same_users;        /* so many users in turn, each for 64 requests in a row;
                                * 0: each request has a user of its own                  */
};

struct buyers;

/* NULL: errno says why the ledger cannot be written.  `plan` and what it points to must
 * outlive the buyers. */
struct buyers *buyers_open(const struct buyers_plan *plan);

/* The callbacks of a generator for these buyers. */
struct generator_client buyers_client(struct buyers *buyers);

/* Write the last line of the ledger and close it; frees.  False: errno says why the ledger is
 * not whole.  NULL is fine. */
bool buyers_close(struct buyers *buyers);

#endif /* LOADTEST_OPEN_LOOP_BUYERS_H */
