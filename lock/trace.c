/* SPDX-License-Identifier: MIT */
/* trace.c -- records the trace that a hold serves. */
#include <string.h>

#include "base/os/thread.h"
#include "lock/recording.h"
#include "lock/status.h"

/* Trace ids are written into text lines, JSON and the arguments of other programs, so
 * they must not contain characters that need an escape there. */
static dlock_status check_id(const char *trace)
{
    static const char BYTES[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
                                "abcdefghijklmnopqrstuvwxyz"
                                "0123456789._:-";
    size_t length = trace != NULL ? strnlen(trace, DLOCK_TRACE_MAX + 1) : 0;

    if (length == 0 || length > DLOCK_TRACE_MAX)
        return dlock_fail(DLOCK_INVALID, "the id of a trace has 1 to %d bytes",
                          (int)DLOCK_TRACE_MAX);
    if (strspn(trace, BYTES) < length)
        return dlock_fail(DLOCK_INVALID,
                          "byte %zu of the trace's id is none of A-Z a-z 0-9 . _ : -",
                          strspn(trace, BYTES) + 1);
    return DLOCK_OK;
}

dlock_status dlock_trace(dlock_system *sys, const dlock_lease *lease, const char *trace)
{
    DLOCK_PUT_OFF_CANCEL;
    struct dlock_owner owner;
    dlock_status st;

    dlock_error_clear();
    st = dlock_system_check(sys);
    if (st != DLOCK_OK || !dlock_recording_is_on(sys))
        return st;
    st = check_id(trace);
    if (st != DLOCK_OK)
        return st;
    /* Also a lost hold has an owner, until it is released. */
    if (lease == NULL || !dlock_holds_owner(sys->holds, lease->hold, &owner))
        return dlock_fail(DLOCK_INVALID, "the lease was never granted, or is released");
    dlock_recording_put_trace(sys, lease, trace);
    return DLOCK_OK;
}
