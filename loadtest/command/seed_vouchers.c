/* SPDX-License-Identifier: MIT */
/* seed_vouchers.c -- the vouchers that `seckill seed` makes, in one or several partitions. */
#include "loadtest/command/seed_vouchers.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/text/exit_codes.h"
#include "base/text/printable.h"
#include "db/issue.h"
#include "db/lab_db.h"
#include "db/partition.h"
#include "loadtest/kit/memory.h"
#include "loadtest/kit/why.h"

/* ---- the window of a sale ---- */

enum { TIME_SHOWN_MAX = 80 /* bytes of a wrong time in a message */ };

/* EXIT_VALID: PostgreSQL reads the value of the flag as a time, or there is none.  Otherwise stderr
 * says why not. */
static enum exit_code check_time(lab_db *db, const char *flag, const char *text)
{
    char shown[TIME_SHOWN_MAX];
    bool is_time = true;

    if (text && !lab_issue_reads_time(db, text, &is_time)) {
        eprintf("seckill seed: no voucher was made: %s\n", lab_db_error(db));
        return EXIT_UNAVAILABLE;
    }
    if (!is_time)
        eprintf("seckill seed: %s: expected a time, such as \"2030-01-31 20:00+08\", not \"%s\"\n",
                flag, printable(text, shown, sizeof shown));
    return is_time ? EXIT_VALID : EXIT_USAGE;
}

static enum exit_code check_window(lab_db *db, const char *begin, const char *end)
{
    char begin_shown[TIME_SHOWN_MAX], end_shown[TIME_SHOWN_MAX];
    enum lab_window window;

    if (!lab_issue_judge_window(db, begin, end, &window)) {
        eprintf("seckill seed: no voucher was made: %s\n", lab_db_error(db));
        return lab_db_is_lost(db) ? EXIT_UNAVAILABLE : EXIT_USAGE;
    }
    if (window == LAB_WINDOW_GOOD)
        return EXIT_VALID;
    printable(begin ? begin : "a minute ago", begin_shown, sizeof begin_shown);
    printable(end ? end : "a year later", end_shown, sizeof end_shown);
    if (window == LAB_WINDOW_IS_REVERSED)
        eprintf("seckill seed: the sale would end (--end: %s) before it begins (--begin: %s)\n",
                end_shown, begin_shown);
    else
        eprintf("seckill seed: a sale needs a beginning and an end that are not infinite, not "
                "--begin: %s and --end: %s\n", begin_shown, end_shown);
    return EXIT_USAGE;
}

/* Check the values of --begin and --end; NULL: the flag was not given.  EXIT_VALID: a sale can have
 * them.  EXIT_USAGE, EXIT_UNAVAILABLE: stderr says why not. */
static enum exit_code seed_times_check(lab_db *db, const char *begin, const char *end)
{
    enum exit_code rc = check_time(db, "--begin", begin);

    if (rc == EXIT_VALID)
        rc = check_time(db, "--end", end);
    return rc == EXIT_VALID ? check_window(db, begin, end) : rc;
}

/* A partition, which gets every voucher of that remainder. */
struct share {
    size_t partition, partitions;
    lab_db *db;
    bool is_left_out; /* the partition has vouchers, and --once makes no other */
    int64_t *ids;     /* of its vouchers */
    int64_t count;
};

/* Do two partitions have one URL?  The transaction of the first would lock out the second. */
static bool has_twins(const struct partition_urls *list)
{
    for (size_t i = 1; i < list->count; i++)
        for (size_t j = 0; j < i; j++)
            if (strcmp(partition_url(list, i), partition_url(list, j)) == 0) {
                eprintf("seckill seed: --lab-database-url: partitions %zu and %zu have the same "
                        "URL; each partition is a database of its own\n", j, i);
                return true;
            }
    return false;
}

static enum exit_code read_partitions(const char *urls, struct partition_urls *list)
{
    char why[512];

    if (partition_urls_read(urls, list, why, sizeof why))
        return has_twins(list) ? EXIT_USAGE : EXIT_VALID;
    eprintf("seckill seed: --lab-database-url: %s\n", why);
    return EXIT_USAGE;
}

static enum exit_code open_database(lab_db **db, const char *url)
{
    char error[512];

    if (lab_db_open(db, url, error, sizeof error))
        return EXIT_VALID;
    eprintf("seckill seed: no voucher was made: %s\n", error);
    return EXIT_UNAVAILABLE;
}

enum exit_code seed_vouchers_check(const struct seed_vouchers *vouchers, const char *urls)
{
    struct partition_urls list;
    enum exit_code rc;

    if (vouchers->count == 0 || (!vouchers->begin && !vouchers->end))
        return EXIT_VALID;
    rc = read_partitions(urls, &list);
    for (size_t i = 0; rc == EXIT_VALID && i < list.count; i++) {
        lab_db *db = NULL;

        rc = open_database(&db, partition_url(&list, i));
        if (rc == EXIT_VALID)
            rc = seed_times_check(db, vouchers->begin, vouchers->end);
        lab_db_close(db);
    }
    return rc;
}

/* Inside the transaction that lab_issue_begin() has begun. */
static bool issue_all(struct share *share, const struct seed_vouchers *vouchers)
{
    char title[64];

    for (int64_t i = (int64_t)share->partition; i < vouchers->count;
         i += (int64_t)share->partitions) {
        struct lab_voucher voucher = {title, vouchers->stock, vouchers->begin, vouchers->end};

        snprintf(title, sizeof title, "voucher %" PRId64 " of %" PRId64, i + 1, vouchers->count);
        if (!lab_issue_voucher(share->db, &voucher, &share->ids[share->count]))
            return false;
        share->count++;
    }
    return true;
}

/* Say which partition, if there are several, and why it refused.  `words` come before. */
static enum exit_code say_failure(const struct share *share, const char *words)
{
    char partition[64] = "";

    if (share->partitions > 1)
        snprintf(partition, sizeof partition, "partition %zu: ", share->partition);
    eprintf("seckill seed: %s: %s%s\n", words, partition, lab_db_error(share->db));
    return lab_db_is_lost(share->db) ? EXIT_UNAVAILABLE : EXIT_USAGE;
}

/* Open the database, and issue the vouchers in a transaction that stays open. */
static enum exit_code prepare(struct share *share, const struct seed_vouchers *vouchers,
                              const char *url)
{
    bool has_vouchers = false;
    enum exit_code rc = open_database(&share->db, url);

    if (rc != EXIT_VALID)
        return rc;
    share->ids = memory_need(calloc((size_t)vouchers->count + 1, sizeof *share->ids));
    if (!lab_issue_begin(share->db, &has_vouchers))
        return say_failure(share, "no voucher was made");
    share->is_left_out = vouchers->once && has_vouchers;
    if (!share->is_left_out && !issue_all(share, vouchers))
        return say_failure(share, "no voucher was made");
    return EXIT_VALID;
}

/* A server that is lost during COMMIT may have committed. */
static enum exit_code commit(const struct share *share, FILE *report)
{
    if (share->is_left_out) {
        fprintf(report, "the database already has vouchers, so --once makes no other\n");
        return EXIT_VALID;
    }
    if (!lab_issue_commit(share->db))
        return say_failure(share, lab_db_is_lost(share->db)
                                      ? "COMMIT has no answer, so vouchers may have been made"
                                      : "no voucher was made");
    return EXIT_VALID;
}

/* Commit one partition after another, and name the vouchers of each. */
static enum exit_code commit_all(const struct share *shares, size_t count,
                                 const struct seed_vouchers *vouchers, FILE *report,
                                 int64_t *first)
{
    enum exit_code rc = EXIT_VALID;
    int64_t made = 0;

    for (size_t i = 0; rc == EXIT_VALID && i < count; i++) {
        rc = commit(&shares[i], report);
        for (int64_t id = 0; rc == EXIT_VALID && id < shares[i].count; id++, made++) {
            fprintf(report, "voucher %" PRId64 ": stock %" PRId64 "\n", shares[i].ids[id],
                    vouchers->stock);
            *first = *first ? *first : shares[i].ids[id];
        }
    }
    fflush(report); /* before stderr names these lines */
    if (rc != EXIT_VALID && made > 0)
        eprintf("  the partitions before have committed %" PRId64 " of %" PRId64
                " vouchers, which stay; the lines `voucher` name them\n", made, vouchers->count);
    return rc;
}

enum exit_code seed_vouchers_make(const struct seed_vouchers *vouchers, const char *urls,
                                  FILE *report, int64_t *first)
{
    struct share shares[PARTITIONS_MAX] = {0};
    struct partition_urls list;
    enum exit_code rc = read_partitions(urls, &list);
    size_t count = rc == EXIT_VALID ? list.count : 0;

    *first = 0;
    for (size_t i = 0; rc == EXIT_VALID && i < count; i++) {
        shares[i].partition = i;
        shares[i].partitions = count;
        rc = prepare(&shares[i], vouchers, partition_url(&list, i));
    }
    if (rc == EXIT_VALID)
        rc = commit_all(shares, count, vouchers, report, first);
    for (size_t i = 0; i < count; i++) {
        lab_db_close(shares[i].db);
        free(shares[i].ids);
    }
    return rc;
}
