/* SPDX-License-Identifier: MIT */
/* bench_check.c -- how long the checker takes, and how much memory, for histories of 10^3 to
 * 10^6 calls of four kinds: from the files to the verdict and its JSON.
 *
 *     make bench-check                   prints a table; 1 if a limit is passed
 *     bench_check CALLS                  up to so many calls
 *
 * Each history is recorded by the recorder itself, and each measurement is a process of its
 * own, so that memory is its own too; time is the processor's.  Limits: 10^6 calls take 1.5 s and 256 MiB at most, and
 * ten times the calls at most thirteen times as long. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
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
    NOISE_MS = 20, /* a smaller time says nothing of growth */
    ROUNDS = 3,
    LEASE_MS = 30000,
};

/* A history being recorded. */
struct tale {
    dlock_recorder *rec;
    int64_t now_ns;
    int64_t left; /* calls */
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

/* One name, one after the other. */
static void tell_one(struct tale *t)
{
    for (uint64_t i = 0; t->left > 0; i++)
        hold(t, "a", 1 + i % 16);
}

/* Ten calls a name. */
static void tell_many(struct tale *t)
{
    char name[32];

    for (uint64_t i = 0; t->left > 0; i++) {
        snprintf(name, sizeof(name), "lock %" PRIu64, i / 5);
        hold(t, name, 1 + i % 16);
    }
}

/* Whoever is let in was waiting, and was woken by who let go; a thousand names. */
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

/* One in twenty is granted beside another, whose lease is long and who gives nothing back
 * for a while. */
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

/* What a process measured. */
struct measured {
    int64_t ms, mib;
};

/* Of this process, which has one thread: what others take of the machine is not in it. */
static int64_t cpu_ns(void)
{
    struct timespec now;

    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return now.tv_sec * INT64_C(1000000000) + now.tv_nsec;
}

static void judge(int kind, const char *dir, int to)
{
    struct check_options options = check_options_default();
    int64_t began_ns = cpu_ns();
    struct check *c = check_new();
    struct check_verdict verdict;
    struct history h = {0};
    struct measured measured;
    struct rusage usage;
    FILE *out = fopen("/dev/null", "we");
    json_t *json;

    if (out == NULL || !history_read(&h, dir))
        _exit(70);
    check_judge(c, &h, &options, &verdict);
    check_print(out, &h, &verdict);
    json = check_to_json(&h, &verdict);
    json_dumpf(json, out, 0);
    measured.ms = (cpu_ns() - began_ns) / DLOCK_NS_PER_MS;
    getrusage(RUSAGE_SELF, &usage);
    measured.mib = usage.ru_maxrss / 1024;
    if (verdict.valid != kinds[kind].valid) {
        check_print(stderr, &h, &verdict);
        _exit(70);
    }
    _exit(write(to, &measured, sizeof(measured)) == sizeof(measured) ? 0 : 70);
}

/* The best of a few.  False: it failed. */
static bool measure(int kind, const char *dir, struct measured *best)
{
    struct measured got;
    int ends[2], status;
    pid_t pid;

    *best = (struct measured){INT64_MAX, 0};
    for (int i = 0; i < ROUNDS; i++) {
        if (pipe(ends) != 0)
            return false;
        pid = fork();
        if (pid == 0)
            judge(kind, dir, ends[1]);
        close(ends[1]);
        if (read(ends[0], &got, sizeof(got)) != sizeof(got))
            got.ms = -1;
        close(ends[0]);
        if (waitpid(pid, &status, 0) != pid || status != 0 || got.ms < 0)
            return false;
        if (got.ms < best->ms)
            best->ms = got.ms;
        if (got.mib > best->mib)
            best->mib = got.mib;
    }
    return true;
}

/* False: it passed a limit, or failed. */
static bool run(int kind, int64_t calls, int64_t *before_ms)
{
    char dir[] = "/tmp/seckill-bench-check-XXXXXX";
    struct measured m = {0, 0};
    bool ok = mkdtemp(dir) != NULL, is_fast, is_linear;

    ok = ok && record(kind, calls, dir) && measure(kind, dir, &m);
    is_fast = calls < CALLS_MAX || (m.ms <= LIMIT_MS && m.mib <= LIMIT_MIB);
    is_linear = *before_ms < NOISE_MS || m.ms <= LIMIT_TIMES * *before_ms;
    printf("%-26s %9" PRId64 " calls  %6" PRId64 " ms  %5" PRId64 " MiB%s%s%s\n",
           kinds[kind].name, calls, m.ms, m.mib, ok ? "" : "  FAILED",
           is_fast ? "" : "  OVER THE LIMIT", is_linear ? "" : "  NOT LINEAR");
    fflush(stdout);
    *before_ms = m.ms;
    (void)files_remove_tree(dir);
    return ok && is_fast && is_linear;
}

int main(int argc, char **argv)
{
    int64_t max = argc > 1 ? atoll(argv[1]) : CALLS_MAX;
    bool ok = true;

    for (int kind = 0; kind < KINDS; kind++) {
        int64_t before_ms = 0;

        for (int64_t calls = CALLS_MIN; calls <= max; calls *= 10)
            ok = run(kind, calls, &before_ms) && ok;
    }
    return ok ? 0 : 1;
}
