/* SPDX-License-Identifier: MIT */
/* patience.h -- how long a start goes on asking stores that do not answer. */
#ifndef APP_PATIENCE_H
#define APP_PATIENCE_H

#include <stdbool.h>
#include <stdint.h>

/* Used by one thread. */
struct patience {
    int64_t begin_ns;
    int64_t end_ns;
    int64_t tell_ns; /* when the log is told next */
    int64_t pause_ms;
};

/* Attempts may take `allowed_ms` from now on, for all stores together. */
void patience_begin(struct patience *p, int64_t allowed_ms);

/* A store did not answer, and `why` says how that came out: pause, and true if it may be
 * asked again.  After a second, and then every three, the log says which store is waited
 * for, why, and for how much longer.  False: the time is up. */
bool patience_wait(struct patience *p, const char *store, const char *why);

/* The time since patience_begin(), in whole seconds. */
int64_t patience_seconds(const struct patience *p);

#endif /* APP_PATIENCE_H */
