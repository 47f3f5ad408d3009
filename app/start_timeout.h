/* SPDX-License-Identifier: MIT */
/* start_timeout.h -- limits the time in which a start asks stores that do not
 * answer. */
#ifndef APP_START_TIMEOUT_H
#define APP_START_TIMEOUT_H

#include <stdbool.h>
#include <stdint.h>

/* Used by one thread. */
struct start_timeout {
    int64_t begin_ns;
    int64_t end_ns;
    int64_t tell_ns; /* when the next line goes to the log */
    int64_t pause_ms;
};

/* Allow `allowed_ms` from now on for the attempts at all stores together. */
void start_timeout_begin(struct start_timeout *p, int64_t allowed_ms);

/* A store did not answer, for the reason `why`: pause before the next attempt.  After a
 * second, and then every three seconds, the log names the store, the reason and the
 * time left.  True: ask the store again.  False: the time has passed. */
bool start_timeout_wait(struct start_timeout *p, const char *store, const char *why);

/* The time since start_timeout_begin(), in whole seconds. */
int64_t start_timeout_seconds(const struct start_timeout *p);

#endif /* APP_START_TIMEOUT_H */
