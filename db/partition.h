/* SPDX-License-Identifier: MIT */
/* partition.h -- vouchers that are spread over several databases: which database has one.
 *
 * A voucher lives in one partition, which its id names: ids of partition p are those from
 * p * 10^12 + 1 to p * 10^12 + 999999999999.  So the partition of a voucher depends on neither
 * the number of partitions nor on any list, and a partition that is added moves nothing.
 * Partition 0 has the ids that a database has which never heard of partitions.
 *
 * An order lives in the partition of its voucher.  Orders' numbers of different partitions
 * differ, since bits 25 to 30 of a number that a database draws are its partition.
 *
 * Each database knows its partition and their count: the table tb_partition, which
 * become_partition() of schema.sql fills.
 */
#ifndef DB_PARTITION_H
#define DB_PARTITION_H

#include "db/conn.h"

enum {
    PARTITIONS_MAX = 64,
    PARTITION_URLS_MAX = 16384, /* bytes of all URLs together */
};

/* The URLs of the databases; that of partition 0 is the first.  It may be copied. */
struct partition_urls {
    size_t count;
    size_t begin[PARTITIONS_MAX]; /* offsets into text */
    char text[PARTITION_URLS_MAX];
};

/* Read URLs with white space between them.  A text without "://" is one connection string of
 * libpq, blanks and all.  False: one cannot be used, and `why` gets a sentence that says which
 * and why. */
bool partition_urls_read(const char *text, struct partition_urls *out, char *why,
                         size_t size);

/* The URL of a partition, which is below urls->count. */
const char *partition_url(const struct partition_urls *urls, size_t partition);

/* The partition that the id of a voucher names; it may be above any that there is.  `count`
 * is the number of partitions: a single database has vouchers of any id. */
size_t partition_of_voucher(int64_t voucher_id, size_t count);

/* The partition that most likely has the order of this number, below `count`: an order whose
 * number Redis drew, or whose database became a partition later, may be in any other. */
size_t partition_of_order(int64_t order_id, size_t count);

/* Is the database partition `number` of `count`, as it says itself?
 *   OK        yes; or it says nothing, and count is 1
 *   ERROR     no: `why` gets a sentence that says what it is, and what to do
 *   otherwise it did not answer; db_error() says why */
enum db_status partition_check(struct db_conn *db, size_t number, size_t count, char *why,
                               size_t size);

#endif /* DB_PARTITION_H */
