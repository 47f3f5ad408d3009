/* SPDX-License-Identifier: MIT */
/* about.h -- what the header of a file of records says of the system that writes it. */
#ifndef DLOCK_RECORD_ABOUT_H
#define DLOCK_RECORD_ABOUT_H

#include <stdbool.h>
#include <stdint.h>

typedef struct dlock_recorder_about {
    const char *variant;
    const char *uuid;
    unsigned caps;
    int lease_ms;
    bool watchdog;
    uint32_t handover;   /* after a grant of the store, so many grants inside the
                          * process may follow */
    int64_t limit_bytes; /* of the file; 0: 1 GiB, which is eight million holds */
} dlock_recorder_about;

#endif /* DLOCK_RECORD_ABOUT_H */
