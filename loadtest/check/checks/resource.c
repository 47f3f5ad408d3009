/* SPDX-License-Identifier: MIT */
/* resource.c -- the resource accepts no write under an older fence than an accepted one,
 * and refuses older ones only.  The resource writes its own log, apart from the records of
 * the locks. */
#include <inttypes.h>

#include "loadtest/check/checks/checks.h"

/* The first write under the lock's name, or under a later one. */
static size_t first_write(const struct check *c)
{
    size_t low = 0, high = c->options->write_count;

    while (low < high) {
        size_t middle = (low + high) / 2;

        if (c->options->writes[middle].name < c->lock.name)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

void check_resource(struct check *c)
{
    const struct check_write *writes = c->options->writes;
    uint64_t highest = 0;

    for (size_t i = first_write(c);
         i < c->options->write_count && writes[i].name == c->lock.name; i++) {
        const struct check_write *write = &writes[i];

        if (write->fence == 0) /* of a lock without any */
            continue;
        c->out->findings[CHECK_resource].looked++;
        if (write->is_accepted && write->fence < highest)
            check_violation(c, CHECK_resource, DLOCK_ASSUMES_NONE, NO_CALL, NO_CALL, 0,
                            0, "write %" PRId64 " under fence %" PRIu64 " was taken "
                            "after one under %" PRIu64, write->position, write->fence,
                            highest);
        else if (!write->is_accepted && write->fence >= highest)
            check_violation(c, CHECK_resource, DLOCK_ASSUMES_NONE, NO_CALL, NO_CALL, 0,
                            0, "write %" PRId64 " under fence %" PRIu64 " was refused, "
                            "and none newer was taken", write->position, write->fence);
        if (write->is_accepted && write->fence > highest)
            highest = write->fence;
    }
}
