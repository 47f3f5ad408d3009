/* SPDX-License-Identifier: MIT */
/* metrics_write.c -- writes all metrics in Prometheus' text format. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "app/metrics.h"
#include "app/metrics_list.h"
#include "base/os/histogram.h"
#include "base/text/version.h"

enum { LABELS_TEXT_MAX = 512 };

/* ---- labels, and the figures that are read at the time of a scrape ---- */

static const char *const LAYERS[] = {
#define X(id, name) name,
    METRICS_LAYERS(X)
#undef X
};

static const char *const STATUSES[METRICS_LOCK_STATUSES] = {
#define X(id, value, text_id, text) [DLOCK_##id] = text_id,
    DLOCK_STATUS_MAP(X)
#undef X
};

static const char *const TAKES[] = {"ok", "timeout", "lost"};

static const char *const LISTENERS[CONNECTION_LISTENERS] = {"orders", "admin"};

/* The states with a line: not FREE, and not ENDED. */
static const char *const STATES[CONNECTION_ENDED + 1] = {
#define X(id, name, may_end) [CONNECTION_##id] = name,
    CONNECTION_STATES(X)
#undef X
};

static const char *const REASONS[] = {
#define X(id, name) name,
    CONNECTION_ENDS(X)
#undef X
};

static const char *end_name(int i)
{
    return i == METRICS_REPLAYED ? "replayed" : outcome_info((enum outcome)i)->name;
}

static int64_t takes(const struct db_pool_stats *pool, int i)
{
    const uint64_t counts[] = {pool->taken, pool->timed_out, pool->refused};

    return (int64_t)counts[i];
}

/* NULL: the service has no such store. */
static const char *store_name(const struct metrics_facts *facts, int i)
{
    return facts->readiness.said[i][0] != '\0' ? READINESS_NAMES[i] : NULL;
}

/* NULL: there is no such partition. */
static const char *partition_name(const struct metrics_facts *facts, int i)
{
    static const char *const NUMBERS[PARTITIONS_MAX] = {
        "0",  "1",  "2",  "3",  "4",  "5",  "6",  "7",  "8",  "9",  "10", "11", "12",
        "13", "14", "15", "16", "17", "18", "19", "20", "21", "22", "23", "24", "25",
        "26", "27", "28", "29", "30", "31", "32", "33", "34", "35", "36", "37", "38",
        "39", "40", "41", "42", "43", "44", "45", "46", "47", "48", "49", "50", "51",
        "52", "53", "54", "55", "56", "57", "58", "59", "60", "61", "62", "63"};

    return (size_t)i < facts->partition_count ? NUMBERS[i] : NULL;
}

/* The value number `i` of a label, from 0 to metrics_label_size() - 1.  NULL: there is no such
 * value. */
static const char *label_value(enum metrics_label label, const struct metrics_facts *facts, int i)
{
    switch (label) {
#define LABEL(id, name, size, value)                                                   \
    case METRICS_LABEL_##id:                                                           \
        return value;
#include "app/metrics.def"
    case METRICS_NO_LABEL:
    case METRICS_LABEL_COUNT:
        break;
    }
    return "";
}

/* A figure that is in no cell.  `i` counts the values of the labels, those of the last one
 * fastest. */
static int64_t read_figure(enum metrics_reading reading, struct metrics *m,
                           const struct metrics_facts *facts, int i)
{
    switch (reading) {
#define READING(id, type, name, unit, labels, value, counted_in, help)                 \
    case METRICS_READING_##id:                                                         \
        return value;
#include "app/metrics.def"
    case METRICS_READING_COUNT:
        break;
    }
    return 0;
}

/* ---- the text ---- */

/* A metric while its lines are written. */
struct scrape {
    struct metrics *m;
    const struct metrics_facts *facts;
    const struct metrics_entry *entry;
    struct text *out;
};

/* Write the labels of line `i`, without the braces.  False: a label has no such
 * value. */
static bool format_labels(const struct scrape *s, int i, char text[LABELS_TEXT_MAX])
{
    const char *values[METRICS_LABELS_MAX];
    int len = 0;

    for (int l = METRICS_LABELS_MAX - 1; l >= 0; l--) {
        int size = metrics_label_size(s->entry->labels[l]);

        values[l] = label_value(s->entry->labels[l], s->facts, i % size);
        if (values[l] == NULL)
            return false;
        i /= size;
    }
    text[0] = '\0';
    for (int l = 0; l < METRICS_LABELS_MAX && len < LABELS_TEXT_MAX; l++) {
        const char *name = metrics_label_name(s->entry->labels[l]);

        if (name != NULL)
            len += snprintf(text + len, (size_t)(LABELS_TEXT_MAX - len), "%s%s=\"%s\"",
                            len > 0 ? "," : "", name, values[l]);
    }
    return len < LABELS_TEXT_MAX;
}

/* `ending` follows the name; `end` is the end of a bucket, or NULL. */
static void write_name(const struct scrape *s, const char *ending, const char *labels,
                       const char *end)
{
    text_add(s->out, "%s%s", s->entry->name, ending);
    if (labels[0] != '\0' || end != NULL)
        text_add(s->out, "{%s%s%s%s%s}", labels, labels[0] != '\0' && end != NULL ? "," : "",
                 end != NULL ? "le=\"" : "", end != NULL ? end : "", end != NULL ? "\"" : "");
}

/* Write a bucket.  It counts whole numbers below `end_us`, so the upper bound of a size
 * is one less. */
static void write_bucket(const struct scrape *s, const char *labels, uint64_t end_us,
                         uint64_t count)
{
    char end[32] = "+Inf";

    if (end_us != UINT64_MAX && metrics_is_of_sizes(s->entry))
        (void)snprintf(end, sizeof(end), "%" PRIu64, end_us - 1);
    else if (end_us != UINT64_MAX)
        (void)snprintf(end, sizeof(end), "%g", (double)end_us / 1e6);
    write_name(s, "_bucket", labels, end);
    text_add(s->out, " %" PRIu64 "\n", count);
}

static void write_sum(const struct scrape *s, const char *labels, uint64_t sum_us,
                      uint64_t count)
{
    write_name(s, "_sum", labels, NULL);
    if (metrics_is_of_sizes(s->entry))
        text_add(s->out, " %" PRIu64 "\n", sum_us);
    else
        text_add(s->out, " %.6f\n", (double)sum_us / 1e6);
    write_name(s, "_count", labels, NULL);
    text_add(s->out, " %" PRIu64 "\n", count);
}

static void write_histogram(const struct scrape *s, const char *labels, int i)
{
    struct metrics_histogram_sum sum = {0};
    uint64_t seen = 0;

    metrics_collect(s->m, s->entry->place + (size_t)i * sizeof(struct metrics_histogram), &sum);
    for (size_t bucket = 0; bucket < METRICS_BUCKETS; bucket++) {
        bool is_last = bucket == METRICS_BUCKETS - 1;

        seen += sum.buckets[bucket];
        write_bucket(s, labels,
                     is_last ? UINT64_MAX : histogram_end(bucket, METRICS_BUCKET_BITS), seen);
    }
    write_sum(s, labels, sum.sum, seen);
}

static void write_lock_histogram(const struct scrape *s, const char *labels)
{
    const dlock_histogram *h =
        (const void *)((const char *)&s->facts->locks + s->entry->place);
    uint64_t seen = 0;

    for (size_t bucket = 0; bucket < DLOCK_HISTOGRAM_BUCKETS; bucket++) {
        seen += h->buckets[bucket];
        write_bucket(s, labels, dlock_histogram_end_us(bucket), seen);
    }
    write_sum(s, labels, h->sum_us, seen);
}

static int64_t read_one(const struct scrape *s, int i)
{
    if (s->entry->source == METRICS_FROM_READING)
        return read_figure((enum metrics_reading)s->entry->place, s->m, s->facts, i);
    return (int64_t)metrics_total(
        s->m, s->entry->place + (size_t)i * sizeof(atomic_uint_fast64_t));
}

/* Write line `i`, or the lines of histogram `i`. */
static void write_one(const struct scrape *s, int i)
{
    char labels[LABELS_TEXT_MAX];

    if (!format_labels(s, i, labels))
        return;
    if (s->entry->source == METRICS_FROM_LOCKS) {
        write_lock_histogram(s, labels);
    } else if (s->entry->type == METRICS_HISTOGRAM) {
        write_histogram(s, labels, i);
    } else {
        bool is_time = strstr(s->entry->name, "_seconds") != NULL; /* read in microseconds */

        write_name(s, "", labels, NULL);
        text_add(s->out, is_time ? " %.6f\n" : " %.0f\n",
                 (double)read_one(s, i) / (is_time ? 1e6 : 1));
    }
}

void metrics_write(struct metrics *m, const struct metrics_facts *facts,
                   struct text *out)
{
    struct scrape s = {.m = m, .facts = facts, .out = out};

    for (size_t i = 0; (s.entry = metrics_at(i)) != NULL; i++) {
        int lines = 1;

        text_add(out, "# HELP %s %s\n# TYPE %s %s\n", s.entry->name, s.entry->help,
                 s.entry->name, metrics_type_name(s.entry->type));
        for (int l = 0; l < METRICS_LABELS_MAX; l++)
            lines *= metrics_label_size(s.entry->labels[l]);
        for (int line = 0; line < lines; line++)
            write_one(&s, line);
    }
}
