/* SPDX-License-Identifier: MIT */
/* metrics_reading.c -- reads the figures that are not in cells at the time of a
 * scrape. */
#include "app/metrics_reading.h"

#include "base/text/version.h"

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

const char *metrics_label_value(enum metrics_label label,
                                const struct metrics_facts *facts, int i)
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

int64_t metrics_read(enum metrics_reading reading, struct metrics *m,
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
