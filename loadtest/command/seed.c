/* SPDX-License-Identifier: MIT */
/* seed.c -- `seckill seed`: users with tokens, and vouchers with stock. */
#include <errno.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/http/admin_token.h"
#include "base/http/token.h"
#include "base/text/exit_codes.h"
#include "base/text/printable.h"
#include "base/text/settings.h"
#include "db/issue.h"
#include "db/lab_db.h"
#include "db/partition.h"
#include "loadtest/command/commands.h"
#include "loadtest/kit/command.h"
#include "loadtest/kit/interrupt.h"
#include "loadtest/kit/memory.h"
#include "loadtest/kit/shell.h"
#include "loadtest/kit/why.h"
#include "loadtest/lab/lab.h"
#include "loadtest/sale/users.h"

struct seed_vouchers {
    int64_t count, stock;
    const char *begin, *end; /* of the sale; NULL: the default */
    bool once;               /* make none where there are vouchers */
};

/* Check the times of the sale in every partition, before anything is written.  `urls` has the
 * databases.  Anything but EXIT_VALID: stderr says why. */
enum exit_code seed_vouchers_check(const struct seed_vouchers *vouchers, const char *urls);

/* Make the vouchers, and name each on `report` when it is committed.  *first is the id of the
 * first; 0: none was made.  Each partition has a transaction of its own, and none is committed
 * before all partitions have taken their vouchers.  If a COMMIT fails, stderr says what the
 * partitions before have kept.  EXIT_USAGE: a server refused.  EXIT_UNAVAILABLE: a server did not
 * answer. */
enum exit_code seed_vouchers_make(const struct seed_vouchers *vouchers, const char *urls,
                                  FILE *report, int64_t *first);

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

enum {
    USERS_MAX = 10000000,
    STOCK_MAX = 2000000000,
    VOUCHERS_MAX = 1000,
    OPERATOR_ID = 1, /* the user's number in an operator's token */
};
#define LIFETIME_MAX_MS (10LL * 365 * 24 * 3600 * 1000)

struct seed_settings {
    const char *dir, *begin, *end;
    const char *database_url, *key_path, *tokens_path, *admin_path;
    int64_t users, stock, vouchers, lifetime_ms;
    bool once, operator;
};

#define AT(field) offsetof(struct seed_settings, field)
#define WITHOUT_LAB(kind, flag, at, ...)                                               \
    GROUPED(kind, flag, at, "Without a lab", __VA_ARGS__)
static const struct setting settings[] = {
    OPTION(COUNT, "users", AT(users), .fallback = "100000", .meta = "N", .min = 0,
           .max = USERS_MAX,
           .help = "the number of users with a token, 1 to N; with 0 no tokens are written"),
    OPTION(COUNT, "stock", AT(stock), .fallback = "1000", .meta = "N", .min = 0,
           .max = STOCK_MAX, .help = "stock of each new voucher"),
    OPTION(COUNT, "vouchers", AT(vouchers), .fallback = "1", .meta = "N", .min = 0,
           .max = VOUCHERS_MAX, .help = "the number of new vouchers"),
    OPTION(SWITCH, "once", AT(once), .fallback = "off",
           .help = "create vouchers only if the database has none, so that you can run the same "
                   "command at every start"),
    OPTION(DURATION, "lifetime", AT(lifetime_ms), .fallback = "24h", .meta = "TIME",
           .min = 1000, .max = LIFETIME_MAX_MS,
           .help = "the lifetime of the tokens, from now on; the service answers 401 to an "
                   "expired token"),
    OPTION(SWITCH, "operator", AT(operator), .fallback = "off",
           .help = "print one operator's token, which may create vouchers; write no other "
                   "tokens, create no vouchers, and use no database"),
    OPTION(TEXT, "begin", AT(begin), .meta = "TIME",
           .help = "the beginning of the sale, such as \"2030-01-31 20:00+08\"; default: a "
                   "minute ago"),
    OPTION(TEXT, "end", AT(end), .meta = "TIME",
           .help = "the end of the sale; default: a year after the beginning, and at least a year "
                   "from now"),
    OPTION(TEXT, "tokens", AT(tokens_path), .meta = "FILE", .shared = "tokens",
           .output = SETTING_WRITES_STREAM,
           .help = "the file for the tokens; -: standard output; default in a lab: tokens.txt in "
                   "its directory, which SECKILL_TOKENS does not change"),
    COMMAND_DIR(AT(dir)),
    WITHOUT_LAB(SECRET, "lab-database-url", AT(database_url), .meta = "URL",
                .shared = "lab-database-url",
                .help = "the database, with its owner as the user: "
                        "postgresql://seckill_lab@...; several URLs with white space "
                        "between them are the partitions. With this flag the command "
                        "uses no lab, and needs the files below"),
    WITHOUT_LAB(TEXT, "token-key-file", AT(key_path), .meta = "FILE",
                .shared = "token-key-file",
                .help = "the keys of the tokens, of which the first makes the tokens; "
                        "if the file is missing, it is created with one key"),
    WITHOUT_LAB(TEXT, "admin-token-file", AT(admin_path), .meta = "FILE",
                .help = "the token of the admin listener of the service; created if it "
                        "is missing; default: admin.token beside the token key file"),
};

const struct setting_program command_seed_program = {
    .name = "seckill seed",
    .synopsis = "[--users=N] [--stock=N] [--vouchers=N] [--lifetime=TIME] [--operator]",
    .intro =
        "Create users with tokens, and vouchers with stock, in a lab that is up.  Earlier\n"
        "tokens stay valid until they expire, because they depend only on the key of the lab.\n\n"
        "  seckill seed                              100000 users, one voucher of 1000\n"
        "  seckill seed --users=500 --vouchers=3 --stock=100\n"
        "  seckill seed --users=10 --vouchers=0 --tokens=-   tokens, to the terminal\n"
        "  token=$(seckill seed --operator)          for POST /api/v1/vouchers: an\n"
        "                                            operator creates vouchers, and a\n"
        "                                            buyer orders them",
    EXITS({EXIT_VALID, "done"}, {EXIT_USAGE, NULL},
          {EXIT_UNAVAILABLE, "there is no lab, or a database does not answer"},
          {EXIT_CANNOT_WRITE, "the tokens, the key or the admin token cannot be written"},
          {EXIT_INTERRUPTED, "interrupted; the tokens stay as they were"}),
    SETTINGS(settings),
};

/* The database and the files that the command writes to. */
struct target {
    char database_urls[PARTITION_URLS_MAX], key_path[FILES_PATH_MAX], tokens_path[FILES_PATH_MAX],
        admin_path[FILES_PATH_MAX];
};

/* A shell that has read a lab's env file has the URL too, and means the lab. */
static bool is_without_lab(const struct seed_settings *v)
{
    bool needs_database = v->vouchers > 0 && !v->operator;

    return (v->database_url || (!needs_database && v->key_path)) && !v->dir &&
           !getenv("SECKILL_LAB_DIR");
}

static enum exit_code find_target(const struct settings *s, const struct seed_settings *v,
                                  struct target *target)
{
    struct lab lab;
    enum exit_code rc;

    if (is_without_lab(v)) {
        if (!v->key_path || (!v->tokens_path && v->users > 0 && !v->operator)) {
            eprintf("seckill: without a lab --token-key-file=FILE is needed, and "
                    "--tokens=FILE (- is the standard output) unless --users=0\n");
            return EXIT_USAGE;
        }
        snprintf(target->database_urls, sizeof target->database_urls, "%s",
                 v->database_url ? v->database_url : "");
        files_path(target->key_path, "%s", v->key_path);
        files_path(target->tokens_path, "%s", v->tokens_path ? v->tokens_path : "");
        if (v->admin_path)
            files_path(target->admin_path, "%s", v->admin_path);
        else
            admin_token_beside(v->key_path, target->admin_path, sizeof target->admin_path);
        return EXIT_VALID;
    }
    rc = lab_use(&lab, lab_choose_dir(v->dir));
    if (rc != EXIT_VALID)
        return rc;
    lab_database_urls(&lab, target->database_urls);
    files_join(target->key_path, lab.dir, "token.key");
    files_join(target->admin_path, lab.dir, "admin.token");
    /* SECKILL_TOKENS may come from the env file of another lab. */
    if (settings_is_flag(s, AT(tokens_path)))
        files_path(target->tokens_path, "%s", v->tokens_path);
    else
        files_join(target->tokens_path, lab.dir, "tokens.txt");
    return EXIT_VALID;
}

/* The commands that sell the new vouchers; `tokens` is NULL if the env file names that file. */
static void print_next(const char *dir, const char *tokens, int64_t voucher)
{
    char script[FILES_PATH_MAX];

    if (access("loadtest/wrk/order.lua", R_OK) == 0)
        files_path(script, "loadtest/wrk/order.lua");
    else if (!files_find_data(script, "loadtest/wrk/order.lua"))
        return;
    printf("\nin one shell:  . ");
    shell_print_path(stdout, dir, "env");
    printf(" && build/seckilld\nin another:    . ");
    shell_print_path(stdout, dir, "env");
    printf(" && SECKILL_VOUCHER=%" PRId64, voucher);
    if (tokens) {
        printf(" SECKILL_TOKENS=");
        shell_print_word(stdout, tokens);
    }
    printf(" \\\n  wrk -t2 -c64 -d10s --timeout 30s -s ");
    shell_print_word(stdout, script);
    printf(" http://127.0.0.1:8081\n");
}

/* Make the key file and the admin token where there are none, and read the keys.  Services
 * that may only read find both.  Anything but EXIT_VALID: the reason is on stderr. */
static enum exit_code make_keys(const struct target *target, struct token_keys *keys)
{
    if (!token_keys_make(target->key_path)) {
        eprintf("seckill: cannot write the token key file %s: %s\n",
                target->key_path, strerror(errno));
        return EXIT_CANNOT_WRITE;
    }
    if (!admin_token_make(target->admin_path)) {
        eprintf("seckill: cannot write the admin token file %s: %s\n",
                target->admin_path, strerror(errno));
        return EXIT_CANNOT_WRITE;
    }
    return users_load_keys(target->key_path, keys) ? EXIT_VALID : EXIT_UNAVAILABLE;
}

/* Alone on its line, for $(...). */
static enum exit_code print_operator(const struct token_keys *keys, int64_t expires_s)
{
    char token[TOKEN_LEN + 1];

    token_make(keys, &(struct token_claim){OPERATOR_ID, expires_s, TOKEN_OPERATOR},
               token);
    printf("%s\n", token);
    return EXIT_VALID;
}

/* Print the tokens.  A reader that leaves has enough of them; of any other failure main() says the
 * reason. */
static enum exit_code print_tokens(const struct token_keys *keys, int64_t count,
                                   int64_t expires_s)
{
    if (users_print_tokens(stdout, keys, count, expires_s))
        return EXIT_VALID;
    if (interrupted())
        return EXIT_INTERRUPTED;
    return errno == EPIPE ? EXIT_VALID : EXIT_CANNOT_WRITE;
}

static enum exit_code run(const struct settings *s, const void *values)
{
    const struct seed_settings *v = values;
    int64_t expires_s = token_now_s() + v->lifetime_ms / 1000;
    const struct seed_vouchers vouchers = {.count = v->operator ? 0 : v->vouchers,
                                           .stock = v->stock,
                                           .begin = v->begin,
                                           .end = v->end,
                                           .once = v->once};
    struct target target;
    struct token_keys keys;
    int64_t first = 0;
    enum exit_code rc = find_target(s, v, &target);
    FILE *report = stdout;

    if (rc == EXIT_VALID)
        rc = seed_vouchers_check(&vouchers, target.database_urls);
    if (rc == EXIT_VALID)
        rc = make_keys(&target, &keys);
    if (rc != EXIT_VALID)
        return rc;
    if (v->operator)
        return print_operator(&keys, expires_s);
    if (v->users > 0) {
        rc = users_is_output(target.tokens_path)
                 ? print_tokens(&keys, v->users, expires_s)
                 : users_write_tokens(target.tokens_path, &keys, v->users, expires_s);
        if (rc != EXIT_VALID)
            return rc;
        /* The standard output may be the tokens' file. */
        report = users_is_output(target.tokens_path) ? stderr : stdout;
        fprintf(report, "%" PRId64 " users with tokens: %s\n", v->users,
                target.tokens_path);
    }
    if (vouchers.count > 0)
        rc = seed_vouchers_make(&vouchers, target.database_urls, report, &first);
    if (rc == EXIT_VALID && first && !is_without_lab(v) && report == stdout)
        print_next(lab_choose_dir(v->dir),
                   settings_is_flag(s, AT(tokens_path)) ? v->tokens_path : NULL, first);
    return rc;
}

COMMAND_FUNCTION(seed, command_run)
