/* SPDX-License-Identifier: MIT */
/* evidence.h -- the facts about a sale that an audit reads: stock issued, stock left, orders.
 *
 * The evidence comes from the live database, or from the files stock.json and orders.tsv
 * of a run, which were written from the database right after it.
 */
#ifndef LOADTEST_AUDIT_EVIDENCE_H
#define LOADTEST_AUDIT_EVIDENCE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "db/audit.h"
#include "db/partition.h"
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
    int64_t read_us; /* the instant of all of it, by the database's clock; 0: not known */
};

/* A reading of each partition on a connection of its own, in one snapshot of each. */
struct evidence_reading {
    lab_db *dbs[PARTITIONS_MAX];
    size_t count;
    int64_t read_us; /* the first of the instants */
};

/* Begin a reading; `urls` are the URLs of the partitions in their order, with white space between
 * them.  False: the reason is on stderr. */
bool evidence_begin(struct evidence_reading *reading, const char *urls);

/* End a reading, in every case.  False: a connection, and with it the snapshot, was lost before the
 * end, so the values that were read may be of several instants; said on stderr.  A zeroed reading
 * is allowed, and also returns false. */
bool evidence_end(struct evidence_reading *reading);

/* Read the evidence from the database.  False: the reason is on stderr. */
bool evidence_from_database(struct evidence *e, const struct evidence_reading *reading,
                            const int64_t *vouchers, size_t count);

/* Read the evidence from a run's files.  False: a file cannot be read, an entry or a line makes no
 * sense, or a voucher has two entries; the reason is on stderr. */
bool evidence_from_files(struct evidence *e, const char *dir);

/* Is this voucher among those of the evidence? */
bool evidence_has_voucher(const struct evidence *e, int64_t id);

/* Read the evidence from the database, and write the files of a run. */
bool evidence_export(const struct evidence_reading *reading, const int64_t *vouchers,
                     size_t count, const char *dir);

/* The input of an audit: the evidence, the answers, and the evidence's age by now. */
struct audit_input evidence_input(const struct evidence *e, const struct ledger *ledger,
                                  bool is_settled);

/* Zeroed evidence is fine. */
void evidence_free(struct evidence *e);

#endif /* LOADTEST_AUDIT_EVIDENCE_H */
