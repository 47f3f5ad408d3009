/* SPDX-License-Identifier: MIT */
/* write_log.h -- the database's record of the writes to vouchers: each write that was accepted or
 * refused, in the order of the decisions.
 *
 * Services with --record write the log into tb_voucher_write.  A run copies the log into
 * writes.tsv, which the checker reads together with the stock and the orders of the run.
 */
#ifndef LOADTEST_CHECK_WRITE_LOG_H
#define LOADTEST_CHECK_WRITE_LOG_H

#include "loadtest/audit/evidence.h"
#include "loadtest/check/check.h"

struct write_log {
    struct check_write *writes; /* by name, and of each in the order of positions  */
    size_t count, room;
    struct check_voucher vouchers[EVIDENCE_VOUCHERS_MAX];
    struct evidence evidence;
    char *file;
    bool is_missing; /* the run had the log, and writes.tsv is not there           */
};

/* Write writes.tsv into the directory of a run.  False: the reason is on stderr. */
bool write_log_export(lab_db *db, const int64_t *vouchers, size_t count,
                      const char *dir);

/* Has the directory of a run the file writes.tsv?  A file that cannot be read is there too. */
bool write_log_is_in(const char *dir);

/* Note that the log is missing, if the run in `dir` had it.  To be called if the directory has
 * records of locks and no writes.tsv. */
void write_log_note_missing(struct write_log *log, const char *dir);

/* Read writes.tsv, stock.json and orders.tsv; the locks' names are added to `h`.  False: the
 * reason is on stderr.  The caller frees `log` either way. */
bool write_log_read(struct write_log *log, struct history *h, const char *dir);

/* Let the checker use the log, which must outlive the options. */
void write_log_use(const struct write_log *log, struct check_options *options);

/* A zeroed log is fine. */
void write_log_free(struct write_log *log);

#endif /* LOADTEST_CHECK_WRITE_LOG_H */
