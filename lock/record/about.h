/* SPDX-License-Identifier: MIT */
/* about.h -- the facts about a system that the header of its file of records has. The
 * strings are read only while the file is opened. */
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
    uint32_t handover;   /* dlock_options.handover */
    int64_t limit_bytes; /* of the file; 0: 1 GiB, which is eight million holds */
} dlock_recorder_about;

/* The beginning of dlock_error() after dlock_recorder_open() or dlock_open() has answered IO
 * because the directory or the file of the record cannot be made.  A caller that repeats after IO
 * until a store answers sees by it that repeating is of no use. */
#define DLOCK_RECORD_CANNOT_WRITE "cannot write the record "

#endif /* DLOCK_RECORD_ABOUT_H */
