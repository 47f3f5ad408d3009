/* SPDX-License-Identifier: MIT */
/* metrics_list.c -- the name, unit, labels and help of each metric. */
#include "app/metrics_list.h"

#include <string.h>

#include "app/metrics.h"

#define LABELS_0 {METRICS_NO_LABEL}
#define LABELS_1(a) {METRICS_LABEL_##a}
#define LABELS_2(a, b) {METRICS_LABEL_##a, METRICS_LABEL_##b}
#define LABELS_3(a, b, c) {METRICS_LABEL_##a, METRICS_LABEL_##b, METRICS_LABEL_##c}
#define CELL(field) METRICS_FROM_CELLS, offsetof(struct metrics_cell, field)

static const struct metrics_entry ENTRIES[] = {
#define COUNTER(field, name, unit, labels, counted_in, help)                           \
    {name, unit, counted_in, help, METRICS_COUNTER, labels, CELL(field)},
#define COUNTER_BY(field, name, unit, labels, counted_in, help)                        \
    {name, unit, counted_in, help, METRICS_COUNTER, labels, CELL(field)},
#define DURATION(field, name, labels, counted_in, help)                                \
    {name, "seconds", counted_in, help, METRICS_HISTOGRAM, labels, CELL(field)},
#define SIZE(field, name, unit, labels, counted_in, help)                              \
    {name, unit, counted_in, help, METRICS_HISTOGRAM, labels, CELL(field)},
#define DURATION_BY(field, name, labels, counted_in, help)                             \
    {name, "seconds", counted_in, help, METRICS_HISTOGRAM, labels, CELL(field)},
#define READING(id, type, name, unit, labels, value, counted_in, help)                 \
    {name,   unit,                 counted_in,         help, METRICS_##type,           \
     labels, METRICS_FROM_READING, METRICS_READING_##id},
#define LOCK_DURATION(field, name, labels, counted_in, help)                           \
    {name,   "seconds",          counted_in,                    help, METRICS_HISTOGRAM, \
     labels, METRICS_FROM_LOCKS, offsetof(dlock_metrics, field)},
#include "app/metrics.def"
};

const struct metrics_entry *metrics_at(size_t i)
{
    return i < sizeof(ENTRIES) / sizeof(ENTRIES[0]) ? &ENTRIES[i] : NULL;
}

bool metrics_is_of_sizes(const struct metrics_entry *entry)
{
    return entry->type == METRICS_HISTOGRAM && strcmp(entry->unit, "seconds") != 0;
}

const char *metrics_type_name(enum metrics_type type)
{
    static const char *const NAMES[] = {"counter", "gauge", "histogram"};

    return NAMES[type];
}

static const struct {
    const char *name;
    int size;
} LABELS[METRICS_LABEL_COUNT] = {
    [METRICS_NO_LABEL] = {NULL, 1},
#define LABEL(id, name, size, value) [METRICS_LABEL_##id] = {name, size},
#include "app/metrics.def"
};

const char *metrics_label_name(enum metrics_label label)
{
    return LABELS[label].name;
}

int metrics_label_size(enum metrics_label label)
{
    return LABELS[label].size;
}
