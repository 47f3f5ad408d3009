/* SPDX-License-Identifier: MIT */
/* request.c -- checks the request of an acquire. */
#include "lock/request.h"

#include "lock/sized.h"
#include "lock/status.h"

/* A field that is added after `cancel` is read only if `size` says that it is there. */
static dlock_status check_size(const dlock_request *request)
{
    if (request->size == 0 || request->size == sizeof(*request))
        return DLOCK_OK;
    if (request->size < sizeof(*request))
        return dlock_fail(DLOCK_INVALID,
                          "a request of %zu bytes is none; its size is 0 or "
                          "sizeof(dlock_request)", request->size);
    if (!dlock_is_blank(request, sizeof(*request), request->size))
        return dlock_fail(DLOCK_INVALID,
                          "the request asks for what this library does not know: it is "
                          "%zu bytes long, the library's %zu", request->size,
                          sizeof(*request));
    return DLOCK_OK;
}

dlock_status dlock_request_check(const dlock_variant_info *info,
                                 const dlock_request *request)
{
    dlock_status st;

    if (request == NULL)
        return dlock_fail(DLOCK_INVALID, "there is no request");
    st = check_size(request);
    if (st != DLOCK_OK)
        return st;
    if (request->shared && !(info->caps & DLOCK_CAP_SHARED))
        return dlock_fail(DLOCK_UNSUPPORTED, "%s knows no readers", info->name);
    if (request->lease_ms == 0)
        return DLOCK_OK;
    if (request->lease_ms < DLOCK_LEASE_MIN_MS)
        return dlock_fail(DLOCK_INVALID, "a lease of %d ms is below the least, %d ms",
                          request->lease_ms, (int)DLOCK_LEASE_MIN_MS);
    if (!(info->caps & DLOCK_CAP_EXPIRES))
        return dlock_fail(DLOCK_UNSUPPORTED, "the locks of %s have no lease",
                          info->name);
    return DLOCK_OK;
}
