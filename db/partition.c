/* SPDX-License-Identifier: MIT */
/* partition.c -- computes which of several databases has a voucher or an order. */
#include "db/partition.h"

#include <stdio.h>
#include <string.h>

static const char BLANKS[] = " \t\r\n";

/* Ids of a partition; schema.sql has the same numbers. */
static const int64_t IDS_OF_PARTITION = 1000000000000;
enum { ORDER_NUMBER_BITS = 25, DRAWN_BY_REDIS_BIT = 31 };

static const struct postgres_statement READ = {
    "partition_read",
    "SELECT number, count FROM tb_partition",
    "",
};

/* ---- the list of URLs ---- */

/* Add a URL. False: `why` says what is wrong with it. */
static bool add_url(struct partition_urls *urls, const char *url, size_t len, char *why,
                    size_t size)
{
    size_t at = urls->count == 0 ? 0
                                 : urls->begin[urls->count - 1] +
                                       strlen(partition_url(urls, urls->count - 1)) + 1;
    char said[256];

    if (urls->count == PARTITIONS_MAX || len >= PARTITION_URLS_MAX - at) {
        (void)snprintf(why, size, "there may be %d URLs of %d bytes together",
                       (int)PARTITIONS_MAX, (int)PARTITION_URLS_MAX);
        return false;
    }
    (void)memcpy(urls->text + at, url, len);
    urls->text[at + len] = '\0';
    if (!db_url_is_valid(urls->text + at, said, sizeof(said))) {
        if (urls->count == 0)
            (void)snprintf(why, size, "%s", said);
        else
            (void)snprintf(why, size, "URL %zu: %s", urls->count + 1, said);
        return false;
    }
    urls->begin[urls->count++] = at;
    return true;
}

bool partition_urls_read(const char *text, struct partition_urls *out, char *why, size_t size)
{
    out->count = 0;
    if (text[strspn(text, BLANKS)] == '\0') {
        (void)snprintf(why, size, "there is no URL");
        return false;
    }
    if (strstr(text, "://") == NULL)
        return add_url(out, text, strlen(text), why, size);
    for (text += strspn(text, BLANKS); *text != '\0'; text += strspn(text, BLANKS)) {
        size_t len = strcspn(text, BLANKS);

        if (!add_url(out, text, len, why, size))
            return false;
        text += len;
    }
    return true;
}

const char *partition_url(const struct partition_urls *urls, size_t partition)
{
    return urls->text + urls->begin[partition];
}

/* ---- ids ---- */

size_t partition_of_voucher(int64_t voucher_id, size_t count)
{
    return count == 1 || voucher_id < 0 ? 0 : (size_t)(voucher_id / IDS_OF_PARTITION);
}

size_t partition_of_order(int64_t order_id, size_t count)
{
    uint64_t number = (uint64_t)order_id & UINT32_MAX;
    size_t partition = (size_t)(number >> ORDER_NUMBER_BITS);

    return number >> DRAWN_BY_REDIS_BIT != 0 || partition >= count ? 0 : partition;
}

/* ---- what a database says of itself ---- */

/* Read the row of tb_partition. */
static enum db_status read_row(struct db_conn *db, bool *is_there, int64_t *number,
                               int64_t *count)
{
    enum db_status st = db_run_one(db, &READ, NULL);

    *is_there = st == DB_OK && db_rows(db, 0) == 1;
    *number = *is_there ? db_int(db, 0, 0, 0) : 0;
    *count = *is_there ? db_int(db, 0, 0, 1) : 1;
    return st;
}

enum db_status partition_check(struct db_conn *db, size_t number, size_t count, char *why,
                               size_t size)
{
    int64_t own_number = 0, own_count = 1;
    bool is_there = false;
    enum db_status st = read_row(db, &is_there, &own_number, &own_count);

    if (st != DB_OK)
        return st;
    if (!is_there && count > 1)
        (void)snprintf(why, size,
                       "this database is no partition yet: run db/schema.sql and then SELECT "
                       "become_partition(%zu, %zu) as its owner",
                       number, count);
    else if (is_there && own_number != (int64_t)number)
        (void)snprintf(why, size,
                       "this database is partition %lld of %lld, and its URL stands where that "
                       "of partition %zu belongs: put the URLs of --database-url in the order "
                       "of the partitions, from 0",
                       (long long)own_number, (long long)own_count, number);
    else if (is_there && own_count > (int64_t)count)
        (void)snprintf(why, size,
                       "this database is partition %lld of %lld, and --database-url has %zu "
                       "URL%s: name all partitions, since the vouchers of one that is left out "
                       "would not be found",
                       (long long)own_number, (long long)own_count, count,
                       count == 1 ? "" : "s");
    else if (is_there && own_count < (int64_t)count)
        (void)snprintf(why, size,
                       "this database is partition %lld of %lld, and --database-url has %zu "
                       "URLs: if a partition was added, run SELECT become_partition(%lld, %zu) "
                       "in it as its owner",
                       (long long)own_number, (long long)own_count, count,
                       (long long)own_number, count);
    else
        return DB_OK;
    return DB_ERROR;
}

enum db_status partition_identify(struct db_conn *db)
{
    static const struct postgres_statement IDENTIFY = {
        "partition_identify",
        "SELECT system_identifier || '/' || oid FROM pg_control_system(), pg_database"
        " WHERE datname = current_database()",
        ""};

    return db_run_one(db, &IDENTIFY, NULL);
}
