/* SPDX-License-Identifier: MIT */
/* resource.c -- what the resource took never goes back to an older fence, and what it
 * refused was older.  Its log is its own: it does not come from the locks. */
#include <inttypes.h>

#include "loadtest/checks/checks.h"

void check_resource(struct check *c)
{
    uint64_t highest = 0;

    for (size_t i = 0; i < c->options->write_count; i++) {
        const struct check_write *write = &c->options->writes[i];

        if (write->name != c->lock.name)
            continue;
        c->out->findings[CHECK_resource].looked++;
        if (write->is_accepted && write->fence < highest)
            check_violation(c, CHECK_resource, DLOCK_ASSUMES_NONE, NO_CALL, NO_CALL, 0,
                            0, "write %zu under fence %" PRIu64 " was taken after one "
                            "under %" PRIu64, i + 1, write->fence, highest);
        else if (!write->is_accepted && write->fence >= highest)
            check_violation(c, CHECK_resource, DLOCK_ASSUMES_NONE, NO_CALL, NO_CALL, 0,
                            0, "write %zu under fence %" PRIu64 " was refused, and none "
                            "newer was taken", i + 1, write->fence);
        if (write->is_accepted && write->fence > highest)
            highest = write->fence;
    }
}
