/* SPDX-License-Identifier: MIT */
/* request.h -- what an acquire asks for. */
#ifndef DLOCK_REQUEST_H
#define DLOCK_REQUEST_H

#include "lock/dlock.h"

/* Can a variant do what is asked for?
 *   INVALID      there is no request, or its size or lease is none, or it asks for what only
 *                a newer library knows
 *   UNSUPPORTED  readers or a lease, where the variant has none
 * Threads: any. */
dlock_status dlock_request_check(const dlock_variant_info *info,
                                 const dlock_request *request);

#endif /* DLOCK_REQUEST_H */
