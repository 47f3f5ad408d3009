/* SPDX-License-Identifier: MIT */
/* metrics_reading.h -- what a scrape reads when it comes: the values of the labels, and the
 * figures that other parts of the service have.
 *
 * Threads     Any.
 */
#ifndef APP_METRICS_READING_H
#define APP_METRICS_READING_H

#include "app/metrics.h"
#include "app/metrics_list.h"

/* The value of a label with the number `i`, from 0 to below metrics_label_size().  Lent.
 * NULL: there is none with this number. */
const char *metrics_label_value(enum metrics_label label,
                                const struct metrics_facts *facts, int i);

/* The figure of a reading.  `i` counts the values of the labels, those of the last label
 * fastest. */
int64_t metrics_read(enum metrics_reading reading, struct metrics *m,
                     const struct metrics_facts *facts, int i);

#endif /* APP_METRICS_READING_H */
