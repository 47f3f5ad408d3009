/* SPDX-License-Identifier: MIT */
/* locks.h -- the steps and figures that the parts of `seckill bench-locks` share. */
#ifndef LOADTEST_BENCH_LOCKS_H
#define LOADTEST_BENCH_LOCKS_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include <jansson.h>

#include "base/text/exit_codes.h"
#include "db/issue.h"
#include "loadtest/kit/thread_group.h"
#include "loadtest/lab/urls.h"
#include "lock/dlock.h"

/* The parts: X(name, what the part measures); the function of a part is bench_NAME(). */
#define BENCH_PARTS(X)                                                                 \
    X(pairs, "acquire and release without contention, beside blocking connections")    \
    X(async, "the same by one thread and dlock_async.h, beside redis-benchmark -P 64")   \
    X(later, "releases without a waiting thread, beside waiting releases")             \
    X(hot, "64 threads of two processes on one name: waits and hand-overs")            \
    X(redlock, "pairs on five nodes, and their latency while one node hangs")          \
    X(renewals, "ten thousand holds of one process over a slow link")

enum { BENCH_ROUNDS_MAX = 25 };

struct bench_locks {
    const struct lab *lab;
    lab_db *db; /* the laboratory's own connection                                  */
    int rounds;
    int64_t duration_ms; /* of each measurement                                     */
    const char *dir;     /* of this run, for files                                  */
    FILE *tables;        /* writes to `text`, which is kept for --markdown          */
    char *text;
    size_t text_size, text_shown;
    FILE *terminal;      /* where `text` is shown, part by part                     */
    json_t *results;     /* an object; each part puts its own array there           */
    int judged, missed;  /* targets                                                 */
};

/* Measure, print the table, and add the figures to b->results.  EXIT_VALID also if a target was
 * missed, which bench_judge() counts.  The reason of every other status is on stderr. */
#define X(name, what) enum exit_code bench_##name(struct bench_locks *b);
BENCH_PARTS(X)
#undef X

/* Count a target.  Answers the word for the table, "reached" or "MISSED". */
const char *bench_judge(struct bench_locks *b, bool reached);

/* End a line of the table.  If there is a target (above 0), print the target with `digits`
 * digits, and whether `ratio` reached the target; `row` gets both as "target" and "reached". */
void bench_end_row(struct bench_locks *b, json_t *row, double ratio, double target, int digits);

/* Print one line on stderr about the next measurement. */
void bench_progress(const struct bench_locks *b, int round, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));

/* The time that a process may take for `ms` of measuring. */
int64_t bench_limit_ms(int64_t ms);

/* Open a lock system of `variant` on the servers of the lab, in Redis in the database of the bench.
 * False: the reason is on stderr. */
bool bench_open(const struct bench_locks *b, const char *variant, dlock_system **out);

/* The same, with the option `handover` of dlock_options. */
bool bench_open_handed(const struct bench_locks *b, const char *variant, int handover,
                       dlock_system **out);

/* The same for a variant of one Redis, by a proxy on 127.0.0.1, with a watchdog. */
bool bench_open_by(const struct bench_locks *b, const char *variant, int port, int lease_ms,
                   dlock_system **out);

/* Does this build have the variant?  If not, the table says so. */
bool bench_has(const struct bench_locks *b, const char *variant);

/* Say on stderr that `call` of `variant` did not answer OK; always false. */
bool bench_complain(const char *variant, const char *call, dlock_status st);

/* A release: dlock_release() or dlock_release_later(). */
typedef dlock_status bench_release(dlock_system *sys, dlock_lease *lease);

/* Acquire `name` without a limit of time, and release it.  THREAD_GROUP_DONE or _FAILED. */
enum thread_group_answer bench_pair(dlock_system *sys, const char *variant, const char *name,
                                    bench_release *release);

#endif /* LOADTEST_BENCH_LOCKS_H */
