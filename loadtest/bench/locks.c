/* SPDX-License-Identifier: MIT */
/* locks.c -- the steps that all parts of `seckill bench-locks` take. */
#include "loadtest/bench/locks.h"

#include <stdarg.h>
#include <string.h>
#include <unistd.h>

#include "loadtest/probe/blocking.h"

enum { LEASE_MS = 30000, SPARE_MS = 30000, OPEN_RETRIES = 20, OPEN_PAUSE_US = 250000 };

const char *bench_judge(struct bench_locks *b, bool reached)
{
    b->judged++;
    b->missed += !reached;
    return reached ? "reached" : "MISSED";
}

void bench_end_row(struct bench_locks *b, json_t *row, double ratio, double target, int digits)
{
    bool reached = ratio >= target;

    if (target > 0) {
        fprintf(b->tables, "  %.*f %s", digits, target, bench_judge(b, reached));
        json_object_set_new(row, "target", json_real(target));
        json_object_set_new(row, "reached", json_boolean(reached));
    }
    fputc('\n', b->tables);
}

void bench_progress(const struct bench_locks *b, int round, const char *fmt, ...)
{
    va_list args;

    eprintf("[%d/%d] ", round + 1, b->rounds);
    va_start(args, fmt);
    veprintf(fmt, args);
    va_end(args);
    fputc('\n', stderr);
}

int64_t bench_limit_ms(int64_t ms)
{
    return 3 * ms + SPARE_MS;
}

bool bench_complain(const char *variant, const char *call, dlock_status st)
{
    eprintf("seckill bench-locks: %s: %s: %s (%s)\n", variant, call,
            dlock_status_text(st), dlock_error());
    return false;
}

/* The options point into `urls`, which must be zero at first. */
static dlock_options bench_options(const struct bench_locks *b, const char *variant,
                                   const int *ports, struct lab_urls *urls)
{
    struct lab_route own = {.ports = ports, .database = BLOCKING_DATABASE};
    dlock_options options = dlock_options_default();
    enum dlock_store store = dlock_store_of(dlock_variant_find(variant));
    char *url = lab_url_of(urls, store);

    if (url)
        lab_store_url(b->lab, store, &own, url);
    if (store == DLOCK_STORE_POSTGRES)
        lab_database_url(b->lab, url, LAB_URL_MAX);
    lab_urls_use(urls, &options);
    options.variant = variant;
    options.lease_ms = LEASE_MS;
    return options;
}

/* Open the system, again if that fails: on a busy machine a server that runs may not answer within
 * the short timeout of a node. */
static bool open_system(const dlock_options *options, dlock_system **out)
{
    dlock_status st;

    for (int i = 0; (st = dlock_open(out, options)) == DLOCK_IO && i < OPEN_RETRIES; i++)
        (void)usleep(OPEN_PAUSE_US);
    return st == DLOCK_OK || bench_complain(options->variant, "open", st);
}

bool bench_open(const struct bench_locks *b, const char *variant, dlock_system **out)
{
    struct lab_urls urls = {0};
    dlock_options options = bench_options(b, variant, NULL, &urls);

    return open_system(&options, out);
}

bool bench_open_handed(const struct bench_locks *b, const char *variant, int handover,
                       dlock_system **out)
{
    struct lab_urls urls = {0};
    dlock_options options = bench_options(b, variant, NULL, &urls);

    options.handover = handover;
    return open_system(&options, out);
}

bool bench_open_by(const struct bench_locks *b, const char *variant, int port, int lease_ms,
                   dlock_system **out)
{
    struct lab_urls urls = {0};
    dlock_options options = bench_options(b, variant, &port, &urls);

    options.lease_ms = lease_ms;
    options.watchdog = true;
    options.redis_timeout_ms = SPARE_MS; /* a busy machine, and no hung server */
    return open_system(&options, out);
}

bool bench_has(const struct bench_locks *b, const char *variant)
{
    if (dlock_variant_find(variant))
        return true;
    fprintf(b->tables, "%-12s is not in the catalogue\n", variant);
    return false;
}

enum thread_group_answer bench_pair(dlock_system *sys, const char *variant, const char *name,
                                    bench_release *release)
{
    const char *call = "acquire";
    dlock_lease lease;
    dlock_status st = dlock_acquire(sys, name, -1, &lease);

    if (st == DLOCK_OK) {
        call = "release";
        st = release(sys, &lease);
    }
    if (st == DLOCK_OK)
        return THREAD_GROUP_DONE;
    bench_complain(variant, call, st);
    return THREAD_GROUP_FAILED;
}
