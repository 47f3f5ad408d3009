/* SPDX-License-Identifier: MIT */
/* lock_name.h -- the names of the locks of orders. */
#ifndef APP_LOCK_NAME_H
#define APP_LOCK_NAME_H

#include <inttypes.h>
#include <stdio.h>

enum { LOCK_NAME_SIZE = 64 };

static inline void lock_name_of_user(int64_t user_id, char out[LOCK_NAME_SIZE])
{
    (void)snprintf(out, LOCK_NAME_SIZE, "lock:order:%" PRId64, user_id);
}

static inline void lock_name_of_voucher(int64_t voucher_id, char out[LOCK_NAME_SIZE])
{
    (void)snprintf(out, LOCK_NAME_SIZE, "lock:voucher:%" PRId64, voucher_id);
}

#endif /* APP_LOCK_NAME_H */
