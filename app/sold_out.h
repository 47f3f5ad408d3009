/* SPDX-License-Identifier: MIT */
/* sold_out.h -- remember for a moment that a voucher was sold out.
 *
 * When a sale is over most requests are for nothing, and this makes them cheap.  The
 * note is a hint with an end: 50 ms after the database was last asked, the next request asks
 * again, so stock that comes back is sold.
 *
 * Threads     Any.
 */
#ifndef APP_SOLD_OUT_H
#define APP_SOLD_OUT_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    SOLD_OUT_SLOTS = 256,
    SOLD_OUT_MS = 50,
};

/* A zeroed struct is empty. */
struct sold_out {
    struct {
        atomic_flag is_being_written;
        _Atomic int64_t voucher_id; /* 0: empty */
        _Atomic int64_t until_ns;
    } slots[SOLD_OUT_SLOTS];
};

/* The database was asked at `asked_ns` and said that it is. */
void sold_out_note(struct sold_out *s, int64_t voucher_id, int64_t asked_ns);

/* Was it, a moment ago? */
bool sold_out_hint(struct sold_out *s, int64_t voucher_id, int64_t now_ns);

#endif /* APP_SOLD_OUT_H */
