/* SPDX-License-Identifier: MIT */
/* seed.c -- `seckill seed`: users with tokens, and vouchers with stock. */
#include "loadtest/seed.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <string.h>
#include <unistd.h>

#include "base/settings.h"
#include "base/token.h"
#include "db/issue.h"
#include "loadtest/command.h"
#include "loadtest/interrupt.h"
#include "loadtest/lab.h"

enum { USERS_MAX = 10000000, STOCK_MAX = 2000000000, VOUCHERS_MAX = 1000 };

struct seed_settings {
    const char *dir, *begin, *end;
    int64_t users, stock, vouchers;
};

#define AT(field) offsetof(struct seed_settings, field)
static const struct setting settings[] = {
    {.type = SETTING_COUNT,
     .name = "users",
     .offset = AT(users),
     .fallback = "100000",
     .meta = "N",
     .min = 1,
     .max = USERS_MAX,
     .group = "Options",
     .help = "how many users get a token: 1 to N"},
    {.type = SETTING_COUNT,
     .name = "stock",
     .offset = AT(stock),
     .fallback = "1000",
     .meta = "N",
     .min = 0,
     .max = STOCK_MAX,
     .group = "Options",
     .help = "stock of each new voucher"},
    {.type = SETTING_COUNT,
     .name = "vouchers",
     .offset = AT(vouchers),
     .fallback = "1",
     .meta = "N",
     .min = 0,
     .max = VOUCHERS_MAX,
     .group = "Options",
     .help = "how many vouchers to make"},
    {.type = SETTING_TEXT,
     .name = "begin",
     .offset = AT(begin),
     .meta = "TIME",
     .group = "Options",
     .help =
         "when the sale begins, such as \"2030-01-31 20:00+08\"; default a minute ago"},
    {.type = SETTING_TEXT,
     .name = "end",
     .offset = AT(end),
     .meta = "TIME",
     .group = "Options",
     .help = "when it ends; default in a year"},
    {.type = SETTING_TEXT,
     .name = "dir",
     .offset = AT(dir),
     .meta = "DIR",
     .group = "Options",
     .help = "the lab's directory; default $SECKILL_LAB_DIR, else .lab"},
};

static const struct setting_program program = {
    .name = "seckill seed",
    .synopsis = "[--users=N] [--stock=N] [--vouchers=N] [--begin=TIME] [--end=TIME]",
    .intro = "Make users with tokens, and vouchers with stock, in a lab that is up.  "
             "Tokens\n"
             "that were made earlier stay good: they depend on the lab's key alone.\n\n"
             "  seckill seed                              100000 users, one voucher of "
             "1000\n"
             "  seckill seed --users=500 --vouchers=3 --stock=100",
    .settings = settings,
    .count = sizeof settings / sizeof settings[0],
};

bool seed_tokens(const char *path, const char *key_path, int64_t count)
{
    char token[TOKEN_LEN + 1], fresh[FILES_PATH_MAX];
    struct token_key key;
    FILE *out;
    int fd;

    if (!token_key_load(key_path, &key)) {
        fprintf(stderr, "seckill: cannot use the token key %s: %s\n", key_path,
                strerror(errno));
        return false;
    }
    files_path(fresh, "%s.new", path);
    fd = open(fresh, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    out = fd >= 0 ? fdopen(fd, "w") : NULL;
    for (int64_t user = 1; out && user <= count && !interrupted(); user++) {
        token_make(&key, user, token);
        fprintf(out, "%" PRId64 " %s\n", user, token);
    }
    if (!out || fclose(out) != 0 || rename(fresh, path) != 0) {
        fprintf(stderr, "seckill: cannot write %s: %s\n", path, strerror(errno));
        return false;
    }
    return true;
}

bool seed_ensure(const struct lab *lab, int64_t count)
{
    char path[FILES_PATH_MAX], key[FILES_PATH_MAX];
    int64_t lines = 0;
    FILE *file;
    int c;

    files_join(path, lab->dir, "tokens.txt");
    files_join(key, lab->dir, "token.key");
    file = fopen(path, "re");
    while (file && (c = getc_unlocked(file)) != EOF)
        lines += c == '\n';
    if (file)
        fclose(file);
    return lines >= count || seed_tokens(path, key, count);
}

static enum exit_code make_vouchers(const struct lab *lab,
                                    const struct seed_settings *v, int64_t *first)
{
    char url[256], error[512], title[64];
    enum exit_code rc = EXIT_VALID;
    lab_db *db = NULL;

    lab_database_url(lab, url, sizeof url);
    if (!lab_db_open(&db, url, error, sizeof error)) {
        fprintf(stderr, "seckill: %s\n", error);
        return EXIT_UNAVAILABLE;
    }
    for (int64_t i = 0; i < v->vouchers && rc == EXIT_VALID; i++) {
        struct lab_voucher voucher = {title, v->stock, v->begin, v->end};
        int64_t id = 0;

        snprintf(title, sizeof title, "voucher %" PRId64 " of %" PRId64, i + 1,
                 v->vouchers);
        if (lab_issue_voucher(db, &voucher, &id)) {
            printf("voucher %" PRId64 ": stock %" PRId64 "\n", id, v->stock);
            *first = *first ? *first : id;
        } else {
            fprintf(stderr, "seckill: cannot make a voucher: %s\n", lab_db_error(db));
            rc = EXIT_USAGE;
        }
    }
    lab_db_close(db);
    return rc;
}

static void print_next(const char *dir, int64_t voucher)
{
    char script[FILES_PATH_MAX];

    if (access("loadtest/wrk/order.lua", R_OK) == 0)
        files_path(script, "loadtest/wrk/order.lua");
    else if (!files_find_data(script, "loadtest/wrk/order.lua"))
        return;
    printf("\nin one shell:  . %s/env && build/seckilld\n"
           "in another:    . %s/env && SECKILL_VOUCHER=%" PRId64 " \\\n"
           "  wrk -t2 -c64 -d10s --timeout 30s -s %s http://127.0.0.1:8081\n",
           dir, dir, voucher, script);
}

static enum exit_code run(const struct seed_settings *v)
{
    const char *dir = lab_choose_dir(v->dir);
    char tokens[FILES_PATH_MAX], key[FILES_PATH_MAX];
    int64_t first = 0;
    struct lab lab;
    enum exit_code rc = lab_use(&lab, dir);

    if (rc != EXIT_VALID)
        return rc;
    files_join(tokens, lab.dir, "tokens.txt");
    files_join(key, lab.dir, "token.key");
    if (!seed_tokens(tokens, key, v->users))
        return EXIT_UNAVAILABLE;
    printf("%" PRId64 " users with tokens: %s\n", v->users, tokens);
    rc = make_vouchers(&lab, v, &first);
    if (rc == EXIT_VALID && first)
        print_next(dir, first);
    return rc;
}

int command_seed(int argc, char **argv)
{
    struct seed_settings values = {0};
    enum exit_code rc = EXIT_USAGE;
    struct settings s;

    switch (settings_load(&s, &program, &values, argc, argv)) {
    case SETTINGS_OK:
        rc = run(&values);
        break;
    case SETTINGS_EXIT:
        rc = EXIT_VALID;
        break;
    case SETTINGS_USAGE:
        break;
    }
    settings_free(&s);
    return (int)rc;
}
