/* SPDX-License-Identifier: MIT */
/* settings_run.h -- a program with a small table of settings, and the result of loading them. */
#ifndef TESTS_UNIT_SETTINGS_RUN_H
#define TESTS_UNIT_SETTINGS_RUN_H

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/text/settings.h"
#include "tests/registered.h"

struct values {
    const char *title;
    const char *secret;
    const char *fruit;
    const char *lines;
    int64_t count;
    int64_t wait_ms;
    bool verbose;
};

static const char *fruit_at(size_t i)
{
    static const char *const FRUIT[] = {"apple", "banana", "cherry", NULL};

    return FRUIT[i];
}

#define ROW(kind, flag, field, ...) \
    {.type = SETTING_##kind, .name = flag, .offset = offsetof(struct values, field), .group = "A", \
     .help = "h", __VA_ARGS__}
static const struct setting TABLE[] = {
    ROW(TEXT, "title", title, .fallback = "none", .meta = "TEXT"),
    ROW(SECRET, "secret", secret, .meta = "TEXT"),
    ROW(CHOICE, "fruit", fruit, .fallback = "apple", .meta = "NAME", .choices = fruit_at,
        .common = SETTING_IS_COLOR),
    ROW(COUNT, "count", count, .fallback = "4", .meta = "N", .min = 1, .max = 9),
    ROW(DURATION, "lock-wait", wait_ms, .fallback = "1s", .meta = "DURATION", .max = 5000),
    ROW(LINES, "line", lines, .meta = "TEXT"),
    ROW(SWITCH, "verbose", verbose, .fallback = "off"),
};
#undef ROW

static const struct setting_program PROGRAM = {
    .name = "test", .synopsis = "", .intro = "", .settings = TABLE,
    .count = sizeof TABLE / sizeof TABLE[0], .max_operands = 1, .passes_to = "seckilld",
};

struct run {
    struct settings settings;
    struct values values;
    enum settings_result result;
    char said[2048]; /* the output on standard error */
    char *argv[16];  /* `settings` points into it */
};

/* Load the settings with these arguments (until NULL) and keep the output on standard error. */
static inline void load(struct run *run, const char *const *arguments)
{
    char path[] = "/tmp/seckill-settings-XXXXXX";
    int argc = 1, said = mkstemp(path), saved = dup(STDERR_FILENO);
    ssize_t n;

    memset(run, 0, sizeof *run);
    run->argv[0] = "test";
    for (; arguments[argc - 1]; argc++)
        run->argv[argc] = (char *)(uintptr_t)arguments[argc - 1];
    fflush(stderr);
    dup2(said, STDERR_FILENO);
    run->result = settings_load(&run->settings, &PROGRAM, &run->values, argc,
                                run->argv);
    fflush(stderr);
    dup2(saved, STDERR_FILENO);
    n = pread(said, run->said, sizeof run->said - 1, 0);
    run->said[n > 0 ? n : 0] = '\0';
    close(said);
    close(saved);
    unlink(path);
}

#define LOAD(run, ...) load(run, (const char *const[]){__VA_ARGS__, NULL})

#endif /* TESTS_UNIT_SETTINGS_RUN_H */
