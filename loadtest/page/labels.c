/* SPDX-License-Identifier: MIT */
/* labels.c -- the label of an owner and of an instant in a figure. */
#include <inttypes.h>

#include "base/os/clock.h"
#include "loadtest/page/scene.h"
#include "lock/record/recorder.h"

void page_owner(char out[PAGE_TEXT_MAX], const struct history *h, uint32_t process,
                uint64_t owner)
{
    const struct history_process *p = &h->processes[process];

    snprintf(out, PAGE_TEXT_MAX, "%s%spid %" PRIu32 ", %.8s:%" PRIu64, p->label,
             p->label[0] != '\0' ? ", " : "", p->pid, p->uuid, owner);
}

void page_time(char out[PAGE_TIME_MAX], const struct page_scene *s, int64_t at_ns)
{
    if (at_ns == HISTORY_NEVER)
        snprintf(out, PAGE_TIME_MAX, "never");
    else
        snprintf(out, PAGE_TIME_MAX, "%+.3f ms",
                 (double)(at_ns - s->zero_ns) / (double)DLOCK_NS_PER_MS);
}
