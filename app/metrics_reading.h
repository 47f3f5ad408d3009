/* SPDX-License-Identifier: MIT */
/* metrics_reading.h -- reads, at the time of a scrape, the values of the labels and the
 * figures of other parts of the service.
 *
 * Threads     Any.
 */
#ifndef APP_METRICS_READING_H
#define APP_METRICS_READING_H

#include "app/metrics.h"
#include "app/metrics_list.h"

/* The value number `i` of a label, from 0 to metrics_label_size() - 1.  Borrowed.
 * NULL: there is no such value. */
const char *metrics_label_value(enum metrics_label label,
                                const struct metrics_facts *facts, int i);

/* The figure of a reading.  `i` counts the values of the labels, those of the last label
 * fastest. */
int64_t metrics_read(enum metrics_reading reading, struct metrics *m,
                     const struct metrics_facts *facts, int i);

#endif /* APP_METRICS_READING_H */
