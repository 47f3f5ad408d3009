/* SPDX-License-Identifier: MIT */
/* users.c -- the file of users and tokens from which the load takes its buyers. */
#include "loadtest/sale/users.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/text/output_file.h"
#include "loadtest/kit/files.h"
#include "loadtest/kit/interrupt.h"
#include "loadtest/lab/lab.h"

/* long enough that no token expires during a command that runs for hours */
enum { RUN_NEEDS_S = 12 * 3600, RUN_LIFETIME_S = 48 * 3600 };
enum {
    USERS_LEAST = 20000,
    USERS_MOST = 1000000,
    WAITING_MOST = 1024, /* of a thread, that wait for an answer */
    ORDERS_PER_S_MOST = 50000, /* more than a machine with two processors sells */
};

bool users_load_keys(const char *path, struct token_keys *keys)
{
    char why[TOKEN_WHY_MAX];

    if (token_keys_load(path, geteuid(), keys, why))
        return true;
    eprintf("seckill: cannot use the token key file %s: %s\n", path, why);
    return false;
}

bool users_is_output(const char *path)
{
    return strcmp(path, "-") == 0;
}

bool users_print_tokens(FILE *out, const struct token_keys *keys, int64_t count, int64_t expires_s)
{
    char token[TOKEN_LEN + 1];

    for (int64_t user = 1; user <= count && !interrupted() && !ferror(out); user++) {
        token_make(keys, &(struct token_claim){user, expires_s, TOKEN_BUYER}, token);
        fprintf(out, "%" PRId64 " %s\n", user, token);
    }
    return !interrupted() && !ferror(out) && fflush(out) == 0;
}

static bool replace_tokens(const char *path, const struct token_keys *keys,
                           int64_t count, int64_t expires_s)
{
    struct output_file file;

    return output_file_open(&file, path, true) &&
           output_file_close(&file, users_print_tokens(file.stream, keys, count, expires_s));
}

enum exit_code users_write_tokens(const char *path, const struct token_keys *keys, int64_t count,
                                  int64_t expires_s)
{
    if (replace_tokens(path, keys, count, expires_s))
        return EXIT_VALID;
    if (interrupted())
        return EXIT_INTERRUPTED;
    eprintf("seckill: cannot write the tokens to %s: %s\n", path, strerror(errno));
    return EXIT_CANNOT_WRITE;
}

/* The number of users in the file; 0 if the first or the last token expires before
 * `until_s`.  All tokens of a file were made at once. */
static int64_t count_good(const char *path, const struct token_keys *keys,
                          int64_t until_s)
{
    char line[TOKEN_LEN + 32], token[TOKEN_LEN + 2] = "";
    struct token_claim claim;
    bool is_good = true;
    int64_t count = 0;
    FILE *file = fopen(path, "re");

    while (file && fgets(line, sizeof line, file)) {
        is_good = sscanf(line, "%*d %73s", token) == 1 &&
                  (count > 0 ||
                   token_verify(keys, token, until_s, &claim) == TOKEN_GOOD);
        if (!is_good)
            break;
        count++;
    }
    if (file)
        fclose(file);
    is_good = is_good && token_verify(keys, token, until_s, &claim) == TOKEN_GOOD;
    return is_good ? count : 0;
}

static int64_t least_of(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

int64_t users_for_sale(int64_t stock, int64_t duration_ms, int threads)
{
    int64_t in_time = duration_ms * ORDERS_PER_S_MOST / 1000;
    int64_t sold = least_of(stock, in_time) * USERS_STOCKS;
    int64_t users = (least_of(sold, in_time) + WAITING_MOST) * threads;

    return users < USERS_LEAST ? USERS_LEAST : least_of(users, USERS_MOST);
}

enum exit_code users_ensure(const struct lab *lab, int64_t count)
{
    char path[FILES_PATH_MAX], key[FILES_PATH_MAX];
    struct token_keys keys;
    int64_t now_s = token_now_s();

    files_join(path, lab->dir, "tokens.txt");
    files_join(key, lab->dir, "token.key");
    if (!users_load_keys(key, &keys))
        return EXIT_UNAVAILABLE;
    if (count_good(path, &keys, now_s + RUN_NEEDS_S) >= count)
        return EXIT_VALID;
    return users_write_tokens(path, &keys, count, now_s + RUN_LIFETIME_S);
}
