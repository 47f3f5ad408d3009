/* SPDX-License-Identifier: MIT */
/* metrics_locks.c -- what the lock library counts, as Prometheus reads it. */
#include <inttypes.h>

#include "app/metrics.h"

static void write_acquires(const dlock_metrics *m, const char *variant,
                           struct text *out)
{
    static const dlock_status STATUSES[] = {
#define X(id, value, text_id, text) DLOCK_##id,
        DLOCK_STATUS_MAP(X)
#undef X
    };

    metrics_head(out, "seckill_dlock_acquires_total", "counter",
                 "What the lock library answered to acquires, by result.");
    for (size_t i = 0; i < sizeof(STATUSES) / sizeof(STATUSES[0]); i++)
        text_add(out,
                 "seckill_dlock_acquires_total{variant=\"%s\",result=\"%s\"} %" PRIu64
                 "\n",
                 variant, dlock_status_id(STATUSES[i]), m->acquires[STATUSES[i]]);
}

static void write_durations(const dlock_histogram *h, const char *name,
                            const char *variant, struct text *out)
{
    uint64_t seen = 0;

    for (size_t i = 0; i < DLOCK_HISTOGRAM_BUCKETS; i++) {
        seen += h->buckets[i];
        if (dlock_histogram_end_us(i) != UINT64_MAX)
            text_add(out, "%s_bucket{variant=\"%s\",le=\"%g\"} %" PRIu64 "\n", name,
                     variant, (double)dlock_histogram_end_us(i) / 1e6, seen);
    }
    text_add(out, "%s_bucket{variant=\"%s\",le=\"+Inf\"} %" PRIu64 "\n", name, variant,
             seen);
    text_add(out, "%s_sum{variant=\"%s\"} %.6f\n", name, variant,
             (double)h->sum_us / 1e6);
    text_add(out, "%s_count{variant=\"%s\"} %" PRIu64 "\n", name, variant, seen);
}

void metrics_write_locks(const dlock_metrics *m, const char *variant, struct text *out)
{
    write_acquires(m, variant, out);
#define X(name, help)                                                                  \
    metrics_head(out, "seckill_dlock_" #name "_total", "counter", "Of the locks: " help \
                 ".");                                                                 \
    text_add(out, "seckill_dlock_" #name "_total{variant=\"%s\"} %" PRIu64 "\n",       \
             variant, m->name);
    DLOCK_COUNTERS(X)
#undef X
    metrics_head(out, "seckill_dlock_wait_seconds", "histogram",
                 "How long acquires took that were granted.");
    write_durations(&m->wait, "seckill_dlock_wait_seconds", variant, out);
    metrics_head(out, "seckill_dlock_hold_seconds", "histogram",
                 "How long holds lasted, until the release was answered.");
    write_durations(&m->hold, "seckill_dlock_hold_seconds", variant, out);
}
