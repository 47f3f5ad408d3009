/* SPDX-License-Identifier: MIT */
/* pause.h -- every process of the service stopped once, for a known time. */
#ifndef LOADTEST_OPEN_LOOP_PAUSE_H
#define LOADTEST_OPEN_LOOP_PAUSE_H

#include <stdbool.h>
#include <stdint.h>

#include "loadtest/sale/service.h"

struct pause {
    const struct service *services;
    int service_count;
    int64_t from_ns, to_ns; /* since the load began; equal: there is no pause           */
    bool has_begun, has_ended;
};

/* Stop the processes when from_ns has come, and let them go on when to_ns has. */
void pause_tick(struct pause *pause, int64_t since_begin_ns);

/* Let them go on if they are stopped, whatever the time. */
void pause_end(struct pause *pause);

#endif /* LOADTEST_OPEN_LOOP_PAUSE_H */
