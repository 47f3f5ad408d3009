/* SPDX-License-Identifier: MIT */
/* lock_trace.h -- the trace of a request, in the record of the lock that the request holds.
 *
 * Threads     Any.
 */
#ifndef APP_LOCK_TRACE_H
#define APP_LOCK_TRACE_H

#include "app/service.h"

/* Have --record say that the lock of `lease` is held for this trace too.  NULL, and without
 * --record: nothing happens. */
void lock_trace_note(const struct service *service, const dlock_lease *lease,
                     const char *trace_id);

#endif /* APP_LOCK_TRACE_H */
