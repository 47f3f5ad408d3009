/* SPDX-License-Identifier: MIT */
/* permits.h -- the common part of the files about permits. */
#ifndef LOADTEST_CHECK_PERMITS_H
#define LOADTEST_CHECK_PERMITS_H

#include "loadtest/check/checks/checks.h"

/* From this instant on `delta` more permits are needed; a negative number is added. */
struct permits_step {
    int64_t at_ns, delta;
    int64_t call; /* the call that causes the step                            */
    bool is_end;  /* the step is the end of a lease, which is over at that instant */
};

struct permits_steps {
    struct permits_step *steps;
    size_t count, room;
};

void permits_add_step(struct permits_steps *s, int64_t at_ns, int64_t delta, int64_t call,
                      bool is_end);

/* Into the order of time. */
void permits_sort(struct permits_steps *s);

/* Add steps for the times in which each permit with an end certainly was held. */
void permits_add_holders(struct check *c, struct permits_steps *s);

/* Add steps for the times from which each permit with an end may have been taken, and from which it
 * certainly was free again. */
void permits_add_possible(struct check *c, struct permits_steps *taken,
                          struct permits_steps *given);

/* Check that each permit is given back once, by the owner who took it, and lasts as long as
 * promised. */
void permits_look_at_ids(struct check *c);

/* Check that each taking that was refused without a wait had too few permits left. */
void permits_look_at_refusals(struct check *c);

#endif /* LOADTEST_CHECK_PERMITS_H */
