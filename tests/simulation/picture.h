/* SPDX-License-Identifier: MIT */
/* picture.h -- a seed as a page to step through: the page of a story of `seckill scenario`, with
 * the tasks in the place of its people.
 *
 * Nothing is noted unless a page was asked for, and nothing that is noted changes what happens. */
#ifndef SIMULATION_PICTURE_H
#define SIMULATION_PICTURE_H

#include <stdbool.h>
#include <stdint.h>

#include "lock/dlock.h"

/* Of the world that is over. */
struct picture_facts {
    const dlock_variant_info *variant;
    const char *class, *verdict, *text;
    uint64_t seed;
    int lease_ms;
    bool is_fine;
};

/* Before a world begins: its page is to be written to `path`.  NULL: none is. */
void picture_to(const char *path);

bool picture_is_wanted(void);

/* Something was told at this instant; or a connection of the running task carried a request, or
 * the reply to one of an earlier task. */
void picture_line(const char *text);
void picture_wire(int64_t connection, bool is_request, const char *text);

/* What the running task does with locks, as the oracle hears of it.  `hold` is the oracle's, and
 * only compared. */
void picture_asked(const void *hold, const char *name);
void picture_granted(const void *hold, const dlock_lease *lease, int64_t left_ms);
void picture_refused(const void *hold);
void picture_kept(const void *hold, int64_t left_ms); /* it is valid for so long */
void picture_leaves(const void *hold, const char *name);
void picture_abandoned(void); /* a hold of the running task, which asks as another owner now */
void picture_answered(dlock_status st); /* a release, if one is under way */

/* The world is over: write the page.  False: it could not be, which is said on stderr. */
bool picture_write(const struct picture_facts *facts);

/* task.c: the instant, and the task that runs.  False: none does. */
bool picture_here(int64_t *now_ns, int *process, int *task);

#endif /* SIMULATION_PICTURE_H */
