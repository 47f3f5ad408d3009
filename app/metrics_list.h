/* SPDX-License-Identifier: MIT */
/* metrics_list.h -- the name, unit, labels and help of each metric; the one list is
 * metrics.def.
 *
 * Threads     Any; the list never changes.
 */
#ifndef APP_METRICS_LIST_H
#define APP_METRICS_LIST_H

#include <stddef.h>

#include "lock/dlock.h"

enum metrics_label {
    METRICS_NO_LABEL,
#define LABEL(id, name, size, value) METRICS_LABEL_##id,
#include "app/metrics.def"
    METRICS_LABEL_COUNT
};

/* The figures that are read at the time of a scrape. */
enum metrics_reading {
#define READING(id, type, name, unit, labels, value, counted_in, help)                 \
    METRICS_READING_##id,
#include "app/metrics.def"
    METRICS_READING_COUNT
};

enum metrics_type { METRICS_COUNTER, METRICS_GAUGE, METRICS_HISTOGRAM };

/* Where a metric's figures come from. */
enum metrics_source {
    METRICS_FROM_CELLS,  /* at `place` in struct metrics_cell */
    METRICS_FROM_LOCKS,  /* at `place` in dlock_metrics: a histogram */
    METRICS_FROM_READING /* `place` is its number among the readings */
};

enum { METRICS_LABELS_MAX = 3 };

struct metrics_entry {
    const char *name;
    const char *unit;       /* in the plural */
    const char *counted_in; /* files, with ", " between them */
    const char *help;
    enum metrics_type type;
    enum metrics_label labels[METRICS_LABELS_MAX]; /* METRICS_NO_LABEL after the last */
    enum metrics_source source;
    size_t place;
};

/* The entry with this number, in the order of the list; NULL past the last.  Static. */
const struct metrics_entry *metrics_at(size_t i);

/* Is it a histogram of sizes, and not of durations? */
bool metrics_is_of_sizes(const struct metrics_entry *entry);

/* "counter", "gauge", "histogram". */
const char *metrics_type_name(enum metrics_type type);

/* The name of a label, and how many values it can have; METRICS_NO_LABEL: NULL, and 1. */
const char *metrics_label_name(enum metrics_label label);
int metrics_label_size(enum metrics_label label);

#endif /* APP_METRICS_LIST_H */
