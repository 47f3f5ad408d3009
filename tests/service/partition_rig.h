/* SPDX-License-Identifier: MIT */
/* partition_rig.h -- databases of the test's own in the lab's PostgreSQL, each a partition.
 *
 * Each function fails the running test when it cannot do its work.  Threads: one.
 */
#ifndef TESTS_SERVICE_PARTITION_RIG_H
#define TESTS_SERVICE_PARTITION_RIG_H

#include "tests/service/rig.h"

enum { PARTS_MOST = 4, PARTS_URL_MAX = 512 };

/* The databases; the caller sets `count` before parts_make(). */
struct parts {
    size_t count;
    char names[PARTS_MOST][64];
    char owners[PARTS_MOST][PARTS_URL_MAX];   /* URLs of their owner */
    char services[PARTS_MOST][PARTS_URL_MAX]; /* URLs of the service's role */
};
extern struct parts parts;

/* Make and drop the databases: a setup and a teardown of cmocka. Only the first database has the
 * tables of the locks. */
int parts_make(void **state);
int parts_drop(void **state);

/* "--database-url=" with the URLs of these partitions in this order; with those of all. Valid until
 * the next call. */
const char *parts_flag(const size_t *order, size_t n);
const char *parts_flag_all(void);

/* Connect as the owner; the caller frees the connection. */
struct db_conn *parts_connect(const char *url);
/* Run a script in the database. */
void parts_run(const char *url, const char *script);
/* The number that a query of a partition's database returns. */
int64_t parts_number(size_t partition, const char *sql);

/* Make a voucher in the database of a partition. Returns its id. */
int64_t parts_voucher(size_t partition, int64_t stock);

/* Refuse all connections to a partition's database, and end those that exist; or accept connections
 * again. */
void parts_shut(size_t partition, bool is_shut);

#endif /* TESTS_SERVICE_PARTITION_RIG_H */
