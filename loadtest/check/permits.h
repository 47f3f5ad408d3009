/* SPDX-License-Identifier: MIT */
/* permits.h -- what the files about permits share. */
#ifndef LOADTEST_CHECK_PERMITS_H
#define LOADTEST_CHECK_PERMITS_H

#include "loadtest/check/checks/checks.h"

/* At an instant, so many more are needed, or allowed if it is negative. */
struct permits_step {
    int64_t at_ns, delta;
    int64_t call; /* whose doing it is                                        */
    bool is_end;  /* of a lease, which is over at its own instant             */
};

struct permits_steps {
    struct permits_step *steps;
    size_t count, room;
};

void permits_add_step(struct permits_steps *s, int64_t at_ns, int64_t delta, int64_t call,
                      bool is_end);

/* Into the order of time. */
void permits_sort(struct permits_steps *s);

/* Of permits that end: when each was surely held. */
void permits_add_holders(struct check *c, struct permits_steps *s);

/* The same: when each may have been taken, and when it surely was free again. */
void permits_add_possible(struct check *c, struct permits_steps *taken,
                          struct permits_steps *given);

/* Each is given back once, by who took it, and lasts as long as it was promised. */
void permits_look_at_ids(struct check *c);

/* A taking that is refused without waiting is refused because too few can have been left. */
void permits_look_at_refusals(struct check *c);

#endif /* LOADTEST_CHECK_PERMITS_H */
