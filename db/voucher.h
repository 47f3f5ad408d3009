/* SPDX-License-Identifier: MIT */
/* voucher.h -- vouchers for sale: create, list, find. */
#ifndef DB_VOUCHER_H
#define DB_VOUCHER_H

#include "db/conn.h"

/* Instants are microseconds since 1970 in UTC, prices are cents. */
struct voucher {
    int64_t id;
    int64_t shop_id;
    const char *title;     /* texts that were read are valid until the next run */
    const char *sub_title; /* NULL: none */
    const char *rules;     /* NULL: none */
    int64_t pay_value;
    int64_t actual_value;
    int64_t type;
    int64_t status;
    int64_t stock;
    int64_t begin_us;
    int64_t end_us;
};

/* When a voucher is on sale; both ends belong to the sale.  A voucher that is not on
 * offer is not on sale at any time.  Instants are microseconds since 1970 in UTC.
 *
 * The database's clock, which all services share, decides.  When the answer arrives,
 * the process stores by how many microseconds that clock is ahead of its own
 * dlock_clock_ns().  The stored difference is too small by the time that the answer
 * took to arrive, so a sale begins and ends late by that time, and never begins
 * early. */
struct voucher_window {
    int64_t voucher_id;
    int64_t begin_us;
    int64_t end_us;
    int64_t clock_ahead_us;
    bool is_on_offer; /* the status of the voucher is 1 */
};

enum voucher_phase { VOUCHER_NOT_STARTED, VOUCHER_ON_SALE, VOUCHER_ENDED };

/* The present time of the database's clock, in microseconds since 1970, computed
 * without I/O. */
int64_t voucher_clock_us(const struct voucher_window *window);

/* ENDED also if the voucher is not on offer. */
enum voucher_phase voucher_phase_at(const struct voucher_window *window,
                                    int64_t now_us);

/* Create a voucher and its stock.  OK: *id is its number. */
enum db_status voucher_create(struct db_conn *db, const struct voucher *voucher,
                              int64_t *id);

/* The window of one voucher.  OK with *found false: there is none of that number. */
enum db_status voucher_find_window(struct db_conn *db, int64_t voucher_id,
                                   struct voucher_window *window, bool *found);

/* The stock of one voucher.  OK with *found false: there is none of that number. */
enum db_status voucher_find_stock(struct db_conn *db, int64_t voucher_id, int64_t *stock,
                                  bool *found);

/* Find out which of these vouchers are on sale now and have no stock.  OK: db_rows(db, 0) are, and
 * db_int(db, 0, row, 0) are their ids. */
enum db_status voucher_find_sold_out(struct db_conn *db, const int64_t *ids, size_t count);

/* A choice of the vouchers to list. */
struct voucher_page {
    int64_t shop_id;    /* 0: of all shops */
    int64_t after;      /* the id of the last voucher of the page before; 0: the first
                         * page */
    int64_t limit;      /* how many at most */
    int64_t text_bytes; /* the page ends after the voucher at which the sum of the
                         * texts' bytes reaches this number */
};

/* Read one voucher, or a page of the vouchers on offer, the newest first.  OK:
 * db_rows(db, 0) of them can be read with voucher_at(). */
enum db_status voucher_find(struct db_conn *db, int64_t voucher_id);
enum db_status voucher_list(struct db_conn *db, const struct voucher_page *page);
struct voucher voucher_at(const struct db_conn *db, size_t row);

#endif /* DB_VOUCHER_H */
