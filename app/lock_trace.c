/* SPDX-License-Identifier: MIT */
/* lock_trace.c -- writes the trace of a request into the record of its lock. */
#include "app/lock_trace.h"


void lock_trace_note(const struct service *service, const dlock_lease *lease,
                     const char *trace_id)
{
    dlock_status st;

    if (trace_id == NULL)
        return;
    st = dlock_trace(service->locks, lease, trace_id);
    if (st != DLOCK_OK)
        LIMITED_WARN("lock %s: its record lacks the trace %s: %s", lease->name, trace_id,
                     dlock_error());
}
