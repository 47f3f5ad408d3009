/* SPDX-License-Identifier: MIT */
/* bench_once.c -- `seckill bench-once`: one lock, measured once.
 *
 * What a build without fault points and recorder does cannot be measured in a process
 * of a build with them, so `seckill bench-locks` asks both by this command. */
#include "loadtest/bench_once.h"

#include <math.h>
#include <string.h>

#include "base/version.h"
#include "loadtest/command.h"
#include "loadtest/lock_pairs.h"
#include "loadtest/words.h"
#include "lock/bare.h"

struct bench_once_settings {
    const char *lock, *record, *dir;
    int64_t threads, duration_ms;
};

#define AT(field) offsetof(struct bench_once_settings, field)
static const struct setting settings[] = {
    {.type = SETTING_CHOICE,
     .name = "lock",
     .offset = AT(lock),
     .fallback = "reentrant",
     .choices = words_lock_at,
     .group = "Options",
     .help = "the kind of lock; `seckill locks` describes them"},
    {.type = SETTING_COUNT,
     .name = "threads",
     .offset = AT(threads),
     .fallback = "64",
     .meta = "N",
     .min = 1,
     .max = CREW_MAX,
     .group = "Options",
     .help = "each on a name of its own"},
    {.type = SETTING_DURATION,
     .name = "duration",
     .offset = AT(duration_ms),
     .fallback = "1s",
     .meta = "TIME",
     .min = 50,
     .max = 60000,
     .group = "Options",
     .help = "of the measurement"},
    {.type = SETTING_TEXT,
     .name = "record",
     .offset = AT(record),
     .meta = "DIR",
     .group = "Options",
     .help = "leave a record of every lock call there; without it the recorder is off"},
    COMMAND_DIR(AT(dir)),
};

static const struct setting_program program = {
    .name = "seckill bench-once",
    .synopsis = "[OPTIONS]",
    .intro = "Acquire and release without contention, for so long, on the servers of a "
             "lab that is\nup: pairs per second, and which build that was.  `seckill "
             "bench-locks --only=idle`\nasks two builds for it in turn.\n\n"
             "  seckill bench-once --lock=lua --threads=64\n"
             "  seckill bench-once --lock=lua --threads=64 --record=/tmp/records",
    .outro = "Exit status: 0 measured, 1 a lock call failed, 69 a server is missing.",
    .settings = settings,
    .count = sizeof settings / sizeof settings[0],
};

static const char *build_name(bool is_bare)
{
    return is_bare ? "bare" : "whole";
}

void bench_once_write(char out[BENCH_ONCE_LINE_MAX], double pairs_per_s)
{
    snprintf(out, BENCH_ONCE_LINE_MAX, "pairs_per_s=%.3f build=%s version=%s\n",
             pairs_per_s, build_name(DLOCK_IS_BARE), SECKILL_VERSION);
}

bool bench_once_read(const char *text, bool is_bare, double *pairs_per_s, char *why,
                     size_t why_size)
{
    char build[16], version[32];
    double value = 0;
    int end = 0;

    *why = '\0';
    if (sscanf(text, "pairs_per_s=%lf build=%15s version=%31s%n", &value, build,
               version, &end) != 3 ||
        strcmp(text + end, "\n") != 0 || !isfinite(value) || value <= 0)
        snprintf(why, why_size, "answered no pairs per second, but \"%.*s\"",
                 (int)strcspn(text, "\n"), text);
    else if (strcmp(version, SECKILL_VERSION) != 0)
        snprintf(why, why_size, "is version %s, and this is %s", version,
                 SECKILL_VERSION);
    else if (strcmp(build, build_name(is_bare)) != 0)
        snprintf(why, why_size, is_bare ? "is not a bare build" : "is a bare build");
    else
        *pairs_per_s = value;
    return *why == '\0';
}

static enum exit_code run(const struct settings *s, const void *values)
{
    const struct bench_once_settings *v = values;
    char line[BENCH_ONCE_LINE_MAX];
    struct crew_score score = {0};
    struct lab lab;
    struct bench_locks b = {.lab = &lab, .record_dir = v->record};
    enum exit_code rc = lab_use(&lab, lab_choose_dir(v->dir));

    (void)s;
    if (rc == EXIT_VALID)
        rc = lock_pairs_measure(&b, v->lock, (int)v->threads, v->duration_ms, &score);
    if (rc == EXIT_VALID) {
        bench_once_write(line, score.per_s);
        fputs(line, stdout);
    }
    return rc;
}

int command_bench_once(int argc, char **argv)
{
    struct bench_once_settings values = {0};

    return command_run(&program, &values, argc, argv, run);
}
