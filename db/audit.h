/* SPDX-License-Identifier: MIT */
/* audit.h -- the laboratory's questions to the database about a sale. */
#ifndef DB_AUDIT_H
#define DB_AUDIT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "db/issue.h"

/* Connect, and begin a read-only transaction that sees the data of one instant, so that
 * the answers to several questions are consistent.  *read_us is that instant, in
 * microseconds since 1970 by the database's clock.  False: *out is NULL and `error`
 * says why.  The caller ends the transaction with audit_db_end(). */
bool audit_db_begin(lab_db **out, const char *url, int64_t *read_us, char *error,
                    size_t size);

/* End the transaction and the connection.  False: the connection was lost meanwhile, so
 * the answers may be of two instants.  For NULL the call does nothing and returns
 * false. */
bool audit_db_end(lab_db *db);

struct audit_db_stock {
    int64_t issued; /* as the laboratory recorded it when it made the voucher       */
    int64_t left;   /* what is left of it in the service's table                    */
    uint64_t fence; /* the highest fence under which the row was written            */
    int64_t issued_us;        /* the instant of the issue, since 1970                 */
    int64_t begin_us, end_us; /* the window as it was issued, since 1970              */
    bool is_window_moved;     /* the voucher's row has another window now             */
};

/* Read the stock of a voucher.  False: no answer, or the laboratory never issued that
 * voucher; the error text says which. */
bool audit_db_stock(lab_db *db, int64_t voucher, struct audit_db_stock *out);

/* An order, as texts, valid during the call only. */
struct audit_db_order {
    const char *id, *user, *voucher, *request, *variant, *stock_guard,
        *duplicate_guard, *process, *created,
        *admitted_us, /* when the window was checked, since 1970; "" if it was not */
        *created_us;  /* when the row's transaction began                             */
};

/* Called once per order; false ends the reading. */
typedef bool audit_db_order_fn(const struct audit_db_order *order, void *arg);

/* Read all orders of one voucher, in the order of their numbers.  False, here and
 * below: no answer, and lab_db_error() has the reason.  If `each` ends the reading, the
 * answer is true. */
bool audit_db_orders(lab_db *db, int64_t voucher, audit_db_order_fn *each, void *arg);

/* Read the orders of vouchers that do not exist, among the orders that were written
 * since `since_us`. */
bool audit_db_strays(lab_db *db, int64_t since_us, audit_db_order_fn *each, void *arg);

/* A line of the record of writes, as texts, valid during the call only; `fence` is ""
 * if there was none. */
struct audit_db_write {
    const char *position, *voucher, *lock, *fence, *request, *user, *process, *guard,
        *outcome, *written;
};

/* Called once per line; false ends the reading. */
typedef bool audit_db_write_fn(const struct audit_db_write *write, void *arg);

/* Read what was recorded of one voucher, in the order of the positions. */
bool audit_db_writes(lab_db *db, int64_t voucher, audit_db_write_fn *each, void *arg);

/* A choice of the orders to count.  A `user` of 0, and a NULL, mean "any". */
struct audit_db_filter {
    int64_t first_voucher, last_voucher; /* a range, both ends included             */
    int64_t user;
    const char *process;     /* written by this process ...                         */
    const char *not_process; /* ... or by any other than this one                   */
};

bool audit_db_count(lab_db *db, const struct audit_db_filter *filter, int64_t *count);

/* Does a session wait for a lock of PostgreSQL that a session of the service process
 * `process` holds, while that session is idle in a transaction?  That is so when the
 * process was stopped in a transaction.  Waiting sessions of the lock library do not
 * count, because waiting is their purpose. */
bool audit_db_blocked_by(lab_db *db, const char *process, bool *blocked);

/* Have all sessions of the service been idle for a second? */
bool audit_db_quiet(lab_db *db, bool *quiet);

/* Called once per process of the service; false ends the reading. */
typedef bool audit_db_service_fn(const char *process, void *arg);

/* Read the names of the processes of the service that have a session. */
bool audit_db_services(lab_db *db, audit_db_service_fn *each, void *arg);

#endif /* DB_AUDIT_H */
