/* SPDX-License-Identifier: MIT */
/* voucher.h -- the access of an actor's thread to the resource of a scenario, the voucher. */
#ifndef LOADTEST_SCENARIO_SERVERS_VOUCHER_H
#define LOADTEST_SCENARIO_SERVERS_VOUCHER_H

#include "db/sale.h"
#include "loadtest/scenario/participants/part.h"

/* The access of a thread to the resource. */
struct voucher_client {
    const struct actor_part *part;
    int64_t user;
    struct db_conn *db;           /* NULL: not used yet                               */
    struct sale_terms terms;
    struct sale sale;             /* the sale that goes on                            */
    bool has_read;                /* its first step is done                           */
    char request[96];             /* its id                                           */
    int requests;
};

/* Read the stock; the transaction stays open.  False: db_error() is in `error`. */
bool voucher_client_read(struct voucher_client *shop, int64_t *stock, char *error, size_t size);
/* Read the stock in a transaction that ends at once. */
bool voucher_client_glance(struct voucher_client *shop, int64_t *stock, char *error, size_t size);
/* Take a unit, write the order, commit.  `again`: under the number of the last request. */
enum sale_answer voucher_client_buy(struct voucher_client *shop, uint64_t fence, bool again,
                                    char *error, size_t size);
/* Take a unit from the counter. */
enum sale_answer voucher_client_reserve(const struct voucher_client *shop, char *error,
                                        size_t size);
void voucher_client_leave(struct voucher_client *shop);

#endif /* LOADTEST_SCENARIO_SERVERS_VOUCHER_H */
