/* SPDX-License-Identifier: MIT */
/* evidence.h -- what an audit reads about a sale: stock issued, stock left, orders.
 *
 * It comes from the live database, or from the files stock.json and orders.tsv of a
 * run, which were written from the database right after it.
 */
#ifndef LOADTEST_AUDIT_EVIDENCE_H
#define LOADTEST_AUDIT_EVIDENCE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "db/audit.h"
#include "loadtest/audit/audit.h"

enum { EVIDENCE_VOUCHERS_MAX = 64 };

struct evidence {
    struct audit_voucher vouchers[EVIDENCE_VOUCHERS_MAX];
    size_t voucher_count;
    struct audit_order *orders;
    size_t order_count;
    char **lines; /* one per order: its line of orders.tsv, cut at the tabs          */
    char *file;   /* or the whole file that the orders were read from                */
    size_t room;
};

/* Read it from the database.  False: said on stderr why. */
bool evidence_from_database(struct evidence *e, lab_db *db, const int64_t *vouchers,
                            size_t count);

/* Read it from a run's files.  False: said on stderr why. */
bool evidence_from_files(struct evidence *e, const char *dir);

/* Read it from the database and write the files. */
bool evidence_export(lab_db *db, const int64_t *vouchers, size_t count,
                     const char *dir);

/* A zeroed one is fine. */
void evidence_free(struct evidence *e);

#endif /* LOADTEST_AUDIT_EVIDENCE_H */
