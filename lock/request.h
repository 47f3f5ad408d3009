/* SPDX-License-Identifier: MIT */
/* request.h -- checks the request of an acquire. */
#ifndef DLOCK_REQUEST_H
#define DLOCK_REQUEST_H

#include "lock/dlock.h"

/* Can a variant do what is asked for?
 *   INVALID      `request` is NULL, its size or its lease_ms is wrong, or a field is
 *                set that only a newer library knows
 *   UNSUPPORTED  `shared` or a lease_ms, and the variant has no readers or no leases
 * Threads: any. */
dlock_status dlock_request_check(const dlock_variant_info *info,
                                 const dlock_request *request);

#endif /* DLOCK_REQUEST_H */
