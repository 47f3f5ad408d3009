/* SPDX-License-Identifier: MIT */
/* bench_locks.c -- `seckill bench-locks`: how fast the locks are, as ratios.
 *
 * Each round measures every competitor once, one after another, so that other work of the
 * machine slows all of them alike.  A ratio compares two neighbours of one round.  The median
 * of the rounds is compared with the target. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/text/settings.h"
#include "loadtest/bench/locks.h"
#include "loadtest/command/commands.h"
#include "loadtest/command/run_report.h"
#include "loadtest/kit/command.h"
#include "loadtest/kit/interrupt.h"
#include "loadtest/kit/result_page.h"
#include "loadtest/kit/run_directory.h"
#include "loadtest/probe/blocking.h"

struct bench_locks_settings {
    const char *dir, *out, *only, *markdown;
    int64_t rounds, duration_ms;
    bool json;
};

static const struct part {
    const char *name, *what;
    enum exit_code (*run)(struct bench_locks *b);
} parts[] = {
#define X(name, what) {#name, what, bench_##name},
    BENCH_PARTS(X)
#undef X
};

enum { PART_COUNT = sizeof parts / sizeof parts[0] };

static const char *part_name(size_t i)
{
    return i < PART_COUNT ? parts[i].name : i == PART_COUNT ? "all" : NULL;
}

#define AT(field) offsetof(struct bench_locks_settings, field)
static const struct setting settings[] = {
    OPTION(CHOICE, "only", AT(only), .fallback = "all", .meta = "PART", .choices = part_name,
           .help = "measure one part"),
    OPTION(COUNT, "rounds", AT(rounds), .fallback = "5", .meta = "N", .min = 1,
           .max = BENCH_ROUNDS_MAX,
           .help = "the number of measurements of each line"),
    OPTION(DURATION, "duration", AT(duration_ms), .fallback = "1s", .meta = "TIME", .min = 50,
           .max = 60000, .help = "the duration of each measurement"),
    OPTION(SWITCH, "json", AT(json), .fallback = "off", .help = "print JSON instead of tables"),
    COMMAND_MARKDOWN(AT(markdown)),
    COMMAND_OUT(AT(out)),
    COMMAND_OWN_DIR(AT(dir)),
};

const struct setting_program command_bench_locks_program = {
    .name = "seckill bench-locks",
    .synopsis = "[OPTIONS]",
    .intro =
        "Measure the speed of the locks on this machine, as ratios to the same commands over\n"
        "one blocking connection per thread, and to redis-benchmark with and without\n"
        "pipelining.\n\n"
        "  pairs     acquire and release of a different name per thread, 1 to 128 threads\n"
        "  async     asynchronous calls: one thread with many calls in flight\n"
        "  later     a release that waits for its answer, and dlock_release_later()\n"
        "  hot       two processes of 32 threads on one name: grants, the longest\n"
        "            wait, and the time from a release to the next grant, in round trips\n"
        "  redlock   pairs on five nodes, and their latency while one node hangs\n"
        "  renewals  10,000 holds with a lease of 3 s over a link of 5 ms each way: are some\n"
        "            lost?\n\n"
        "  seckill bench-locks\n"
        "  seckill bench-locks --only=pairs --rounds=9 --duration=3s\n"
        "  seckill bench-locks --only=hot --json\n\n"
        "Run only one measurement at a time in a lab, because each measurement empties\n"
        "database 9 of every Redis server of the lab.",
    EXITS({EXIT_VALID, "every target was reached"},
          {EXIT_INVALID, "a lock had two holders at once, or a call failed"},
          {EXIT_THRESHOLD, "a target was missed"}, {EXIT_USAGE, NULL},
          {EXIT_UNAVAILABLE, NULL}, {EXIT_BUG, NULL},
          {EXIT_CANNOT_WRITE, NULL}, {EXIT_INTERRUPTED, NULL}),
    SETTINGS(settings),
};

/* Leave nothing in the bench's database, and begin with nothing. */
static bool clear_servers(const struct bench_locks *b)
{
    static const enum lab_role roles[] = {LAB_REDIS, LAB_REDLOCK};
    bool ok = true;

    for (size_t i = 0; i < sizeof roles / sizeof roles[0] && ok; i++) {
        struct blocking *redis = blocking_open(b->lab, roles[i]);

        ok = redis && blocking_clear(redis);
        blocking_close(redis);
    }
    return ok;
}

/* Print what was added to the tables. */
static void show_tables(struct bench_locks *b)
{
    fflush(b->tables);
    fputs(b->text + b->text_shown, b->terminal);
    fflush(b->terminal);
    b->text_shown = b->text_size;
}

static enum exit_code run_parts(struct bench_locks *b, const char *only)
{
    enum exit_code rc = EXIT_VALID;

    for (size_t i = 0; i < PART_COUNT && rc == EXIT_VALID; i++) {
        if (strcmp(only, "all") != 0 && strcmp(only, parts[i].name) != 0)
            continue;
        eprintf("%s: %s\n", parts[i].name, parts[i].what);
        rc = clear_servers(b) ? parts[i].run(b) : EXIT_UNAVAILABLE;
        show_tables(b);
        if (!clear_servers(b) && rc == EXIT_VALID)
            rc = EXIT_UNAVAILABLE;
    }
    return interrupted() ? EXIT_INTERRUPTED : rc;
}

/* Keep the results so far, also of a run that was cut short.  False: the reason is on stderr. */
static bool keep(struct bench_locks *b, const char *dir, bool print)
{
    char path[FILES_PATH_MAX], *text;

    json_object_set_new(b->results, "rounds", json_integer(b->rounds));
    json_object_set_new(b->results, "duration_ms", json_integer(b->duration_ms));
    json_object_set_new(b->results, "processors",
                        json_integer(sysconf(_SC_NPROCESSORS_ONLN)));
    json_object_set_new(b->results, "targets", json_integer(b->judged));
    json_object_set_new(b->results, "missed", json_integer(b->missed));
    files_join(path, dir, "bench-locks.json");
    if (!files_write_json(path, b->results)) {
        eprintf("seckill bench-locks: cannot write %s: %s\n", path, strerror(errno));
        return false;
    }
    text = print ? files_read(path, NULL) : NULL;
    if (text)
        fputs(text, stdout);
    free(text);
    fprintf(b->tables,
            "\n%d of %d targets reached.  Each measurement took %.1f s, in a process of its own, "
            "and was\nrepeated %d times, in turns.  Each ratio is of two measurements that follow "
            "each other, and\nthe median of the ratios is judged.  Locks, Redis and PostgreSQL "
            "share %ld processors.\nThe results are in %s\n",
            b->judged - b->missed, b->judged, (double)b->duration_ms / 1000, b->rounds,
            sysconf(_SC_NPROCESSORS_ONLN), path);
    return true;
}

static enum exit_code measure(struct bench_locks *b,
                              const struct bench_locks_settings *v)
{
    char dir[FILES_PATH_MAX];
    enum exit_code rc = EXIT_UNAVAILABLE;
    bool is_kept;

    b->db = lab_database_open(b->lab, command_bench_locks_program.name);
    if (b->db && !runs_make(dir, v->out)) {
        rc = EXIT_CANNOT_WRITE;
    } else if (b->db) {
        b->dir = dir;
        rc = run_parts(b, v->only);
        is_kept = rc != EXIT_INTERRUPTED || json_object_size(b->results) > 0;
        if (!is_kept)
            runs_take_back(dir);
        else if (!keep(b, dir, v->json))
            rc = EXIT_CANNOT_WRITE;
        else if (rc == EXIT_VALID && b->missed > 0)
            rc = EXIT_THRESHOLD;
        b->dir = NULL;
        show_tables(b);
        if (is_kept)
            rc = run_report(b->terminal, dir, "bench-locks", rc);
    }
    lab_db_close(b->db);
    return rc;
}

/* Only one part measures zk-seq and etcd. */
static lab_topologies needed(const char *only)
{
    bool measures = strcmp(only, "all") == 0 || strcmp(only, "hot") == 0;

    return measures ? lab_lock_needs("zk-seq") | lab_lock_needs("etcd") : 0;
}

static enum exit_code run(const struct settings *s, const void *values)
{
    const struct bench_locks_settings *v = values;
    struct lab lab;
    struct bench_locks b = {
        .lab = &lab,
        .rounds = (int)v->rounds,
        .duration_ms = v->duration_ms,
        .terminal = v->json ? stderr : stdout,
    };
    enum exit_code rc = lab_open(&lab, lab_choose_dir(v->dir), needed(v->only));

    (void)s;
    if (rc != EXIT_VALID)
        return rc;
    b.results = json_object();
    b.tables = result_page_stream(&b.text, &b.text_size);
    rc = measure(&b, v);
    show_tables(&b);
    if (!result_page_write_text("Locks per second", b.text))
        rc = EXIT_CANNOT_WRITE;
    fclose(b.tables);
    free(b.text);
    json_decref(b.results);
    lab_close(&lab);
    return rc;
}

COMMAND_FUNCTION(bench_locks, command_run_long)
