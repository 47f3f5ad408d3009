/* SPDX-License-Identifier: MIT */
/* bench_check.c -- measures the processor time and memory of the checker for histories of 10^3 to
 * 10^6 calls of four kinds, from the files to the verdict and its JSON.
 *
 *     make bench-check                   prints a table; 1 if a limit is passed
 *     bench_check CALLS                  histories of up to CALLS calls
 *
 * The recorder writes each history.  Each measurement has a process of its own, whose memory is
 * measured; the time is processor time, including the kernel's.  Limits: 10^6 calls take at most
 * 1.5 s and 256 MiB, and ten times the calls take at most thirteen times as long.
 *
 * For a smaller size one process judges ten histories and keeps them, so that as many calls use as
 * much memory as with the next size: the kernel needs long to clear new memory, and its time
 * depends on other programs.  The sizes are measured in turn.  The time is that of the best round;
 * the growth is the median over the rounds, each of which compares consecutive measurements. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "loadtest/check/check.h"
#include "loadtest/kit/files.h"
#include "base/os/clock.h"
#include "lock/record/recorder.h"

enum {
    CALLS_MIN = 1000,
    CALLS_MAX = 1000000,
    LIMIT_MS = 1500,
    LIMIT_MIB = 256,
    LIMIT_TIMES = 13,
    NOISE_US = 5000, /* below this time the growth is not judged */
    ROUNDS = 5,
    TOGETHER = 10, /* the number of histories of a smaller size */
    LEASE_MS = 30000,
    SIZES_MAX = 4,
};

/* A history while it is recorded. */
struct tale {
    dlock_recorder *rec;
    int64_t now_ns;
    int64_t left; /* calls that are left */
};

static uint64_t ask(struct tale *t, const char *name, uint64_t owner, int64_t wait_ms)
{
    dlock_event event = {.kind = DLOCK_EVENT_ACQUIRE,
                         .name = name,
                         .owner = owner,
                         .wait_ms = wait_ms,
                         .lease_ms = LEASE_MS,
                         .time_ns = t->now_ns++};

    t->left--;
    return dlock_recorder_begin(t->rec, &event);
}

static void grant(struct tale *t, uint64_t call, uint64_t owner)
{
    dlock_event answer = {.time_ns = t->now_ns++,
                          .owner = owner,
                          .level = 1,
                          .sent_ns = t->now_ns - 2,
                          .deadline_ns = t->now_ns + LEASE_MS * DLOCK_NS_PER_MS};

    dlock_recorder_end(t->rec, call, &answer);
}

static void give_back(struct tale *t, uint64_t call)
{
    uint64_t release = dlock_recorder_begin_release(t->rec, call, t->now_ns++);
    dlock_event answer = {.time_ns = t->now_ns++};

    t->left--;
    dlock_recorder_end(t->rec, release, &answer);
}

static void mark(struct tale *t, dlock_event_kind kind, const char *name, uint64_t owner)
{
    dlock_event event = {.kind = kind,
                         .name = name,
                         .owner = owner,
                         .detail = kind == DLOCK_EVENT_WAKE,
                         .time_ns = t->now_ns++};

    dlock_recorder_note(t->rec, &event);
}

static void hold(struct tale *t, const char *name, uint64_t owner)
{
    uint64_t call = ask(t, name, owner, 0);

    grant(t, call, owner);
    give_back(t, call);
}

/* All pairs use one name, one pair after the other. */
static void tell_one(struct tale *t)
{
    for (uint64_t i = 0; t->left > 0; i++)
        hold(t, "a", 1 + i % 16);
}

/* Each name has ten calls. */
static void tell_many(struct tale *t)
{
    char name[32];

    for (uint64_t i = 0; t->left > 0; i++) {
        snprintf(name, sizeof(name), "lock %" PRIu64, i / 5);
        hold(t, name, 1 + i % 16);
    }
}

/* Each holder waited, and the release of the holder before it woke it; there are a thousand
 * names. */
static void tell_waits(struct tale *t)
{
    enum { NAMES = 1000 };
    static uint64_t held[NAMES];
    char name[32];

    memset(held, 0, sizeof(held));
    for (uint64_t i = 0; t->left > 0; i++) {
        uint64_t owner = 1 + i, at = i % NAMES, call;

        snprintf(name, sizeof(name), "lock %" PRIu64, at);
        call = ask(t, name, owner, 1000);
        mark(t, DLOCK_EVENT_WAIT, name, owner);
        if (held[at] != 0)
            give_back(t, held[at]);
        mark(t, DLOCK_EVENT_WAKE, name, owner);
        grant(t, call, owner);
        held[at] = call;
    }
}

/* One of twenty grants overlaps another hold with a long lease, which is released much later. */
static void tell_overlaps(struct tale *t)
{
    uint64_t kept = 0;

    for (uint64_t i = 0; t->left > 0; i++) {
        uint64_t call;

        if (i % 20 != 0) {
            hold(t, "a", 1 + i % 16);
            continue;
        }
        call = ask(t, "a", 100 + i, 0);
        grant(t, call, 100 + i);
        if (i % 40 == 0 && kept != 0)
            give_back(t, kept);
        kept = call;
    }
}

static const struct {
    const char *name;
    void (*tell)(struct tale *t);
    enum verdict valid;
} kinds[] = {
    {"one name", tell_one, VERDICT_VALID},
    {"many names", tell_many, VERDICT_VALID},
    {"waits and wakes", tell_waits, VERDICT_VALID},
    {"overlaps with long leases", tell_overlaps, VERDICT_INVALID},
};

enum { KINDS = sizeof(kinds) / sizeof(kinds[0]) };

static bool record(int kind, int64_t calls, const char *dir)
{
    dlock_recorder_about about = {.variant = "reentrant",
                                  .uuid = "bench",
                                  .caps = HISTORY_TEXT_CAPS | DLOCK_CAP_PUSH,
                                  .lease_ms = LEASE_MS};
    struct tale t = {.left = calls, .now_ns = dlock_clock_ns()};

    if (dlock_recorder_open(&t.rec, dir, &about) != DLOCK_OK)
        return false;
    kinds[kind].tell(&t);
    dlock_recorder_close(t.rec);
    return true;
}

/* The measurements of a process. */
struct measured {
    int64_t us, mib;
};

/* The processor time of this process, which has one thread; the time of other programs is not in
 * it. */
static int64_t cpu_us(void)
{
    struct timespec now;

    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return (int64_t)now.tv_sec * 1000000 + now.tv_nsec / 1000;
}

static int64_t used_mib(void)
{
    struct rusage usage;

    getrusage(RUSAGE_SELF, &usage);
    return usage.ru_maxrss / 1024;
}

/* A size: its calls, the number of histories that are judged together, and the best measurement. */
struct size {
    char dir[40];
    int64_t calls;
    int copies;
    struct measured best;
    int64_t us[ROUNDS];
};

static void copy_path(char out[FILES_PATH_MAX], const struct size *size, int copy)
{
    snprintf(out, FILES_PATH_MAX, "%s/%d", size->dir, copy);
}

/* Judge one history. Nothing is freed. */
static void judge_one(int kind, const char *dir)
{
    struct check_options options = check_options_default();
    struct check *c = check_new();
    struct check_verdict verdict;
    struct history h = {0};
    FILE *out = fopen("/dev/null", "we");
    json_t *json;

    if (out == NULL || !history_read(&h, dir))
        _exit(70);
    check_judge(c, &h, &options, &verdict);
    check_print(out, &h, &verdict);
    json = check_to_json(&h, &verdict);
    json_dumpf(json, out, 0);
    if (verdict.valid != kinds[kind].valid) {
        check_print(stderr, &h, &verdict);
        _exit(70);
    }
}

/* Judge the histories, write the measurements to `to`, and end the process. */
static void judge(int kind, const struct size *size, int to)
{
    struct measured measured = {.us = -cpu_us()};
    char dir[FILES_PATH_MAX];

    for (int i = 0; i < size->copies; i++) {
        copy_path(dir, size, i);
        judge_one(kind, dir);
        if (i == 0)
            measured.mib = used_mib();
    }
    measured.us = (measured.us + cpu_us()) / size->copies;
    _exit(write(to, &measured, sizeof(measured)) == sizeof(measured) ? 0 : 70);
}

/* Measure in a process of its own. Returns false if it failed. */
static bool measure(int kind, struct size *size, int round)
{
    struct measured got;
    int ends[2], status;
    bool is_told;
    pid_t pid;

    if (pipe(ends) != 0)
        return false;
    pid = fork();
    if (pid == 0)
        judge(kind, size, ends[1]);
    close(ends[1]);
    is_told = read(ends[0], &got, sizeof(got)) == sizeof(got);
    close(ends[0]);
    if (waitpid(pid, &status, 0) != pid || status != 0 || !is_told)
        return false;
    size->us[round] = got.us;
    if (got.us < size->best.us)
        size->best.us = got.us;
    if (got.mib > size->best.mib)
        size->best.mib = got.mib;
    return true;
}

static bool record_size(int kind, struct size *size, int64_t calls, int copies)
{
    char dir[FILES_PATH_MAX];
    bool ok;

    *size = (struct size){"/tmp/seckill-bench-check-XXXXXX", calls, copies,
                          {INT64_MAX, 0}, {0}};
    ok = mkdtemp(size->dir) != NULL;
    for (int i = 0; i < copies && ok; i++) {
        copy_path(dir, size, i);
        ok = mkdir(dir, 0700) == 0 && record(kind, calls, dir);
    }
    return ok;
}

static int ascending(const void *left, const void *right)
{
    double a = *(const double *)left, b = *(const double *)right;

    return (a > b) - (a < b);
}

static double growth(const struct size *size, const struct size *before)
{
    double times[ROUNDS];

    for (int i = 0; i < ROUNDS; i++)
        times[i] = (double)size->us[i] / (double)before->us[i];
    qsort(times, ROUNDS, sizeof(times[0]), ascending);
    return times[ROUNDS / 2];
}

/* Returns false if a limit was passed. */
static bool report(int kind, const struct size *size, const struct size *before)
{
    const struct measured *m = &size->best;
    bool is_fast = size->calls < CALLS_MAX ||
                   (m->us <= LIMIT_MS * 1000 && m->mib <= LIMIT_MIB);
    bool is_linear = true;

    printf("%-26s %9" PRId64 " calls  %8.2f ms  %5" PRId64 " MiB", kinds[kind].name,
           size->calls, (double)m->us / 1e3, m->mib);
    if (before != NULL && before->best.us >= NOISE_US) {
        double times = growth(size, before);

        is_linear = times <= LIMIT_TIMES;
        printf("  %5.1f times", times);
    }
    printf("%s%s\n", is_fast ? "" : "  OVER THE LIMIT", is_linear ? "" : "  NOT LINEAR");
    fflush(stdout);
    return is_fast && is_linear;
}

/* Measure the sizes from CALLS_MIN to `max`. Returns false if one passed a limit, or failed. */
static bool run(int kind, int64_t max)
{
    struct size sizes[SIZES_MAX];
    int count = 0;
    bool ok = true, is_measured;

    for (int64_t calls = CALLS_MIN; calls <= max && count < SIZES_MAX; calls *= 10)
        ok = record_size(kind, &sizes[count++], calls, calls < max ? TOGETHER : 1) && ok;
    for (int i = 0; i < ROUNDS; i++)
        for (int at = 0; at < count; at++)
            ok = ok && measure(kind, &sizes[at], i);
    is_measured = ok;
    if (!is_measured)
        printf("%-26s FAILED\n", kinds[kind].name);
    for (int at = 0; at < count; at++) {
        if (is_measured)
            ok = report(kind, &sizes[at], at > 0 ? &sizes[at - 1] : NULL) && ok;
        (void)files_remove_tree(sizes[at].dir);
    }
    return ok;
}

int main(int argc, char **argv)
{
    int64_t max = argc > 1 ? atoll(argv[1]) : CALLS_MAX;
    bool ok = true;

    for (int kind = 0; kind < KINDS; kind++)
        ok = run(kind, max) && ok;
    return ok ? 0 : 1;
}
