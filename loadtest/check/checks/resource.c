/* SPDX-License-Identifier: MIT */
/* resource.c -- the resource accepts no write under an older fence than an accepted one,
 * and refuses older ones only.  The resource writes its own log, apart from the records of
 * the locks. */
#include <inttypes.h>

#include "loadtest/check/checks/checks.h"
#include "loadtest/kit/bisect.h"

void check_resource(struct check *c)
{
    const struct check_write *writes = c->options->writes;
    size_t count = c->options->write_count, at = 0;
    uint64_t highest = 0;

    BISECT(at, count, i, writes[i].name < c->lock.name);
    for (; at < count && writes[at].name == c->lock.name; at++) {
        const struct check_write *write = &writes[at];

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
