/* SPDX-License-Identifier: MIT */
/* order_load.h -- one measurement of orders: by pgbench, by wrk at seckilld, or by wrk at a
 * handler that does nothing.
 *
 * Threads     The laboratory's main one.
 */
#ifndef LOADTEST_BENCH_ORDER_LOAD_H
#define LOADTEST_BENCH_ORDER_LOAD_H

#include "base/text/exit_codes.h"
#include "db/audit.h"
#include "loadtest/kit/files.h"
#include "loadtest/lab/lab.h"
#include "loadtest/live/series.h"

#define ORDER_LOAD_STOCK_GUARD "conditional"
#define ORDER_LOAD_DUPLICATE_GUARD "unique"

enum {
    ORDER_LOAD_STOCK = 1000000000, /* never the limit */
    ORDER_LOAD_BATCH = 64,         /* orders in a transaction of the batch's SQL */
};

struct order_load {
    const struct lab *lab;
    lab_db *db;
    const char *dir; /* exists; logs and pgbench's script go here */
    int processes;   /* of seckilld */
    int64_t duration_ms;
    bool has_settings;     /* service.json has those of a seckilld */
    struct series *series; /* shows the progress; lent, NULL: nothing is shown */
    char script[FILES_PATH_MAX], batch_script[FILES_PATH_MAX]; /* of pgbench */
};

struct order_speed {
    double per_s;          /* accepted orders; without stock: answers "sold out" */
    double p50_ms, p99_ms; /* of all answers, by wrk; 0: wrk printed none */
    bool users_ran_out;    /* so the measurement ended before its time */
};

/* Say on stderr that the file cannot be written, and why (errno).  EXIT_CANNOT_WRITE. */
enum exit_code order_load_say_unwritten(const char *path);

/* Write pgbench's scripts: the statements that seckilld sends for one order, and for a batch.
 * EXIT_CANNOT_WRITE: the reason is on stderr. */
enum exit_code order_load_prepare(struct order_load *load);

/* A new voucher.  False: the reason is on stderr. */
bool order_load_voucher(struct order_load *load, int64_t stock, int64_t *id);

/* Orders per second of so many clients of pgbench, by its own count, without the time to
 * connect.  Each transaction sells one order, or with `is_batch` ORDER_LOAD_BATCH of them.  If no
 * transaction ends in `duration_ms`, the measurement is repeated, each time twice as long, three
 * times at most.  Any status but EXIT_VALID and EXIT_INTERRUPTED: said on stderr why. */
enum exit_code order_load_pgbench(struct order_load *load, int clients, bool is_batch,
                                  int64_t duration_ms, double *per_s);

/* Let `clients` clients order one voucher from seckilld processes with these flags.  If `stock`
 * is 0, every order is answered "sold out", and these answers are counted.  EXIT_INVALID:
 * afterwards the orders and the stock that is left do not add up to `stock`. */
enum exit_code order_load_seckilld(struct order_load *load, const char *const *flags,
                                   int clients, int64_t stock, struct order_speed *speed);

/* The same requests at a handler that does nothing. */
enum exit_code order_load_empty(struct order_load *load, int clients,
                                struct order_speed *speed);

#endif /* LOADTEST_BENCH_ORDER_LOAD_H */
