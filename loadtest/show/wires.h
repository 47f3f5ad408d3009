/* SPDX-License-Identifier: MIT */
/* wires.h -- a wire from each process of the sale to Redis, which can be cut.
 *
 * Every process has a proxy of its own before the Redis server that keeps the locks of one
 * server.  On a cut wire no byte arrives, and neither end is closed.
 *
 * Threads     One.
 */
#ifndef LOADTEST_SHOW_WIRES_H
#define LOADTEST_SHOW_WIRES_H

#include "loadtest/lab/urls.h"
#include "loadtest/proxy/proxy.h"
#include "loadtest/sale/service.h"

struct show_wires {
    struct proxy *proxies[SERVICE_MAX]; /* NULL: not opened yet                      */
    int holds[SERVICE_MAX][2];          /* the faults of a cut wire, by direction     */
    bool is_cut[SERVICE_MAX];
    char urls[SERVICE_MAX][LAB_URL_MAX + 32]; /* as the environment of a process has them */
};

/* Open the wires of the first `count` processes that have none.  False: `why` (WHY_MAX bytes)
 * says the reason. */
bool show_wires_open(struct show_wires *wires, const struct lab *lab, int count, char *why);
/* Cut and close all. */
void show_wires_close(struct show_wires *wires);

/* "SECKILL_REDIS_URL=..." for the environment of a process; lives as long as the wires. */
const char *show_wires_variable(const struct show_wires *wires, int process);

/* False: `why` (WHY_MAX bytes) says the reason.  Mending a whole wire does nothing. */
bool show_wires_cut(struct show_wires *wires, int process, char *why);
void show_wires_mend(struct show_wires *wires, int process);

#endif /* LOADTEST_SHOW_WIRES_H */
