/* SPDX-License-Identifier: MIT */
/* sold_out.h -- remembers for a moment that a voucher was sold out.
 *
 * After a voucher is sold out, most requests are still for it, and this note answers
 * them without the database.  The note lasts 50 ms from the last question to the
 * database.  Then the next request asks the database again, so that stock that comes
 * back is sold.
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

/* Note that the database was asked at `asked_ns` and answered that the voucher is sold
 * out. */
void sold_out_note(struct sold_out *s, int64_t voucher_id, int64_t asked_ns);

/* Was the voucher sold out at most SOLD_OUT_MS before `now_ns`? */
bool sold_out_hint(struct sold_out *s, int64_t voucher_id, int64_t now_ns);

#endif /* APP_SOLD_OUT_H */
