/* SPDX-License-Identifier: MIT */
/* partition.h -- computes which of several databases has a voucher or an order.
 *
 * A voucher lives in one partition, which its id names: ids of partition p are those from
 * p * 10^12 + 1 to p * 10^12 + 999999999999.  So the partition of a voucher depends
 * neither on the number of partitions nor on a list, and adding a partition moves no
 * voucher.  A database without partitions has the ids of partition 0.
 *
 * An order lives in the partition of its voucher.  Two partitions never draw the same
 * order number, because bits 25 to 30 of the number are the partition.
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

/* The URLs of the databases, in the order of the partitions.  The struct may be
 * copied. */
struct partition_urls {
    size_t count;
    size_t begin[PARTITIONS_MAX]; /* offsets into text */
    char text[PARTITION_URLS_MAX];
};

/* Read URLs with white space between them.  A text without "://" is one connection
 * string of libpq, which may contain blanks.  False: a URL cannot be used, and `why`
 * gets a sentence that names the URL and the reason. */
bool partition_urls_read(const char *text, struct partition_urls *out, char *why,
                         size_t size);

/* The URL of a partition, which is below urls->count. */
const char *partition_url(const struct partition_urls *urls, size_t partition);

/* The partition that the id of a voucher names; it may be `count` or higher.  `count`
 * is the number of partitions; with 1 the answer is always 0, because a single database
 * has vouchers of any id. */
size_t partition_of_voucher(int64_t voucher_id, size_t count);

/* The partition, below `count`, that probably has the order of this number.  If Redis
 * drew the number, or if the database became a partition later, the order may be in any
 * other partition. */
size_t partition_of_order(int64_t order_id, size_t count);

/* Does the database's own table say that it is partition `number` of `count`?
 *   OK        yes; or the table is empty, and count is 1
 *   ERROR     no: `why` gets a sentence that says which partition it is, and what to do
 *   otherwise the database did not answer; db_error() says why */
enum db_status partition_check(struct db_conn *db, size_t number, size_t count, char *why,
                               size_t size);

/* Ask for the text that no other database has, not even a copy of this one: row 0, column 0.
 * Answers as db_run(). */
enum db_status partition_identify(struct db_conn *db);

#endif /* DB_PARTITION_H */
