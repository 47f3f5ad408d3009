/* SPDX-License-Identifier: MIT */
/* lock_trace.h -- writes the trace of a request into the record of its lock.
 *
 * Threads     Any.
 */
#ifndef APP_LOCK_TRACE_H
#define APP_LOCK_TRACE_H

#include "app/service.h"

/* Record that the lock of `lease` is held for this trace.  If `trace_id` is NULL, or
 * without --record, the call does nothing. */
void lock_trace_note(const struct service *service, const dlock_lease *lease,
                     const char *trace_id);

#endif /* APP_LOCK_TRACE_H */
