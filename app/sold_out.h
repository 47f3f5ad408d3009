/* SPDX-License-Identifier: MIT */
/* sold_out.h -- remembers for a moment that a voucher was sold out.
 *
 * After a voucher is sold out, most requests are still for it, and this note answers them without
 * the database.  The note is an answer for 200 ms from the last question to the database, so that
 * stock that comes back is sold.  A request that finds an old note asks the database again for all
 * vouchers together that requests asked for lately.  It does so for ten seconds, in which buyers
 * come for each of many vouchers.
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
    SOLD_OUT_SLOTS = 4096,
    SOLD_OUT_MS = 200,
    SOLD_OUT_OLD_MS = 150,      /* the age at which the database is asked again */
    SOLD_OUT_WANTED_MS = 10000, /* a voucher that nobody asked for so long is forgotten */
    SOLD_OUT_ASKED_MAX = 1024,  /* vouchers in one question */
};

/* A zeroed struct is empty. */
struct sold_out {
    struct {
        atomic_flag is_being_written;
        _Atomic int64_t voucher_id; /* 0: empty */
        _Atomic int64_t until_ns;
        _Atomic int64_t wanted_ns; /* when a request asked last, or up to SOLD_OUT_OLD_MS before */
    } slots[SOLD_OUT_SLOTS];
    atomic_flag is_asking;
};

/* Note that the database was asked at `asked_ns` and answered that the voucher is sold
 * out. */
void sold_out_note(struct sold_out *s, int64_t voucher_id, int64_t asked_ns);

/* Was the voucher on sale and sold out at most SOLD_OUT_MS before `now_ns`? */
bool sold_out_hint(struct sold_out *s, int64_t voucher_id, int64_t now_ns);

/* If the note of the voucher is old, also older than an answer may be, and nobody asks now: how
 * many vouchers, this one first, the database is to be asked for.  Above 0: they are in `ids`, and
 * sold_out_asked() must follow. */
size_t sold_out_ask(struct sold_out *s, int64_t voucher_id, int64_t now_ns,
                    int64_t ids[SOLD_OUT_ASKED_MAX]);
void sold_out_asked(struct sold_out *s);

#endif /* APP_SOLD_OUT_H */
