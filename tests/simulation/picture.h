/* SPDX-License-Identifier: MIT */
/* picture.h -- writes a seed as a page to step through: the page of a scenario's story, with a lane
 * for each task.
 *
 * Nothing is recorded unless a page was asked for, and recording does not change the course of the
 * seed. */
#ifndef SIMULATION_PICTURE_H
#define SIMULATION_PICTURE_H

#include <stdbool.h>
#include <stdint.h>

#include "lock/dlock.h"

/* Facts of the world that has ended. */
struct picture_facts {
    const dlock_variant_info *variant;
    const char *class, *verdict, *text;
    uint64_t seed;
    int lease_ms;
    bool is_fine;
};

/* Before a world begins: write its page to `path`. NULL: write no page. */
void picture_to(const char *path);

bool picture_is_wanted(void);

/* Record a line of the trace at this instant; record that a connection of the running task carried
 * a request, or the reply to a request of an earlier task. */
void picture_line(const char *text);
void picture_wire(int64_t connection, bool is_request, const char *text);

/* Record what the running task does with locks, as the oracle is told. `hold` is the oracle's
 * pointer, which is only compared. */
void picture_asked(const void *hold, const char *name);
void picture_granted(const void *hold, const dlock_lease *lease, int64_t left_ms);
void picture_refused(const void *hold);
void picture_kept(const void *hold, int64_t left_ms); /* the hold is valid for `left_ms` more */
void picture_leaves(const void *hold, const char *name);
void picture_abandoned(void); /* the running task asks as another owner from now on */
void picture_answered(dlock_status st); /* the answer to a release, if a release is under way */

/* After the world: write the page. Returns false if it could not be written; the reason is on
 * stderr. */
bool picture_write(const struct picture_facts *facts);

/* In task.c: the present instant and the running task. Returns false if no task runs. */
bool picture_here(int64_t *now_ns, int *process, int *task);

#endif /* SIMULATION_PICTURE_H */
