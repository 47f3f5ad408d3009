/* SPDX-License-Identifier: MIT */
/* start_timeout.h -- how long a start goes on asking stores that do not answer. */
#ifndef APP_START_TIMEOUT_H
#define APP_START_TIMEOUT_H

#include <stdbool.h>
#include <stdint.h>

/* Used by one thread. */
struct start_timeout {
    int64_t begin_ns;
    int64_t end_ns;
    int64_t tell_ns; /* when the log is told next */
    int64_t pause_ms;
};

/* Attempts may take `allowed_ms` from now on, for all stores together. */
void start_timeout_begin(struct start_timeout *p, int64_t allowed_ms);

/* A store did not answer, and `why` says how that came out: pause, and true if it may be
 * asked again.  After a second, and then every three, the log says which store is waited
 * for, why, and for how much longer.  False: the time is up. */
bool start_timeout_wait(struct start_timeout *p, const char *store, const char *why);

/* The time since start_timeout_begin(), in whole seconds. */
int64_t start_timeout_seconds(const struct start_timeout *p);

#endif /* APP_START_TIMEOUT_H */
