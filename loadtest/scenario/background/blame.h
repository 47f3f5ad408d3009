/* SPDX-License-Identifier: MIT */
/* blame.h -- the cause of a violation in the load beside a story. */
#ifndef LOADTEST_SCENARIO_BACKGROUND_BLAME_H
#define LOADTEST_SCENARIO_BACKGROUND_BLAME_H

#include "loadtest/check/check.h"

/* The cause of the violations that the checker found in the history of the background load. */
enum crowd_blame {
    CROWD_CLEAN,   /* nothing was found, or a fault of a server explains all of it       */
    CROWD_MACHINE, /* something that was late: only a machine that was busy, no fault    */
    CROWD_LOCK,    /* the lock's                                                         */
};

/* `caps` are the lock's.  `why` gets the findings that are not explained. */
enum crowd_blame crowd_blame_of(const struct history *h, const struct check_verdict *v,
                                unsigned caps, char *why, size_t size);

/* Add the faults of one history to another. */
void crowd_add_faults(struct history *to, const struct history *from);

#endif /* LOADTEST_SCENARIO_BACKGROUND_BLAME_H */
