/* SPDX-License-Identifier: MIT */
/* blame.h -- the cause of a violation in the background load of a scenario. */
#ifndef LOADTEST_SCENARIO_BACKGROUND_BLAME_H
#define LOADTEST_SCENARIO_BACKGROUND_BLAME_H

#include "loadtest/check/check.h"

/* The cause of the violations that the checker found in the history of the background load. */
enum background_blame {
    BACKGROUND_CLEAN,   /* nothing was found, or a fault of a server explains all of it */
    BACKGROUND_MACHINE, /* the machine was busy, so a thread or an answer came late    */
    BACKGROUND_LOCK,    /* the lock                                                     */
};

/* `caps` are the lock's.  `why` gets the findings that are not explained. */
enum background_blame background_blame_of(const struct history *h, const struct check_verdict *v,
                                          unsigned caps, char *why, size_t size);

/* Add the faults of one history to another. */
void background_add_faults(struct history *to, const struct history *from);

#endif /* LOADTEST_SCENARIO_BACKGROUND_BLAME_H */
