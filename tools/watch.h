/* SPDX-License-Identifier: MIT */
/* watch.h -- the files by which Prometheus and Grafana watch the service.
 *
 * Threads     One; each function writes to `out`, which stays the caller's.
 */
#ifndef TOOLS_WATCH_H
#define TOOLS_WATCH_H

#include <stdio.h>

/* The alert rules of tools/watch.def, as a file of rules for Prometheus. */
void watch_rules(FILE *out);

/* A dashboard for Grafana, as JSON: the panels of tools/watch.def, and one panel for each
 * metric of app/metrics.def. */
void watch_dashboard(FILE *out);

#endif /* TOOLS_WATCH_H */
