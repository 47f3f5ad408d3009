/* SPDX-License-Identifier: MIT */
/* load.h -- the load beside a story: processes with systems of their own, of
 * the same variant and on the same servers, that take and release other names from
 * before the story begins until after its faults are over.
 *
 * What they do is recorded in files of their own and judged by the same checker.  It has
 * to be clean, unless a fault of a server explains why it is not. */
#ifndef LOADTEST_SCENARIO_BACKGROUND_LOAD_H
#define LOADTEST_SCENARIO_BACKGROUND_LOAD_H

#include "loadtest/check/check.h"

/* Begins with no crowd if the stage is not varied. */
struct stage;
/* Fork them.  No thread may have been started yet. */
void crowd_fork(struct stage *s);
/* Open their wires, and wait until each of their threads has held a lock once. */
void crowd_open(struct stage *s);
/* Wait until they have held enough, which after a fault is not longer than some seconds,
 * and end them.  May be called again. */
void crowd_end(struct stage *s);
/* Read what they did, and add it to the result.  False: nobody can tell, and the
 * result's `why` says the reason. */
bool crowd_check(struct stage *s);
void crowd_free(struct stage *s);

/* Whose doing is what the checker found in a crowd's history? */
enum crowd_blame {
    CROWD_CLEAN,   /* nothing was found, or a fault of a server explains all of it       */
    CROWD_MACHINE, /* something that was late: only a machine that was busy, no fault    */
    CROWD_LOCK,    /* the lock's                                                         */
};

/* `caps` are the lock's.  What was found, if it is not explained, is in `why`. */
enum crowd_blame crowd_blame_of(const struct history *h, const struct check_verdict *v,
                                unsigned caps, char *why, size_t size);

/* Add the faults of one history to another. */
void crowd_add_faults(struct history *to, const struct history *from);

#endif /* LOADTEST_SCENARIO_BACKGROUND_LOAD_H */
