/* SPDX-License-Identifier: MIT */
/* sold_out.c -- remembers for a moment that a voucher was sold out.
 *
 * Vouchers may share a slot.  A writer sets the number to 0, changes the end of the
 * hint, and then sets the new number.  A reader reads the number before and after the
 * end, so it never takes one voucher's hint for another's.
 */
#include "app/sold_out.h"

void sold_out_note(struct sold_out *s, int64_t voucher_id, int64_t asked_ns)
{
    size_t i = (size_t)((uint64_t)voucher_id % SOLD_OUT_SLOTS);

    /* If another thread is writing to the slot, this hint can be dropped. */
    if (atomic_flag_test_and_set(&s->slots[i].is_being_written))
        return;
    atomic_store(&s->slots[i].voucher_id, 0);
    atomic_store(&s->slots[i].until_ns, asked_ns + (int64_t)SOLD_OUT_MS * 1000000);
    atomic_store(&s->slots[i].voucher_id, voucher_id);
    atomic_flag_clear(&s->slots[i].is_being_written);
}

bool sold_out_hint(struct sold_out *s, int64_t voucher_id, int64_t now_ns)
{
    size_t i = (size_t)((uint64_t)voucher_id % SOLD_OUT_SLOTS);
    int64_t until_ns;

    if (atomic_load(&s->slots[i].voucher_id) != voucher_id)
        return false;
    until_ns = atomic_load(&s->slots[i].until_ns);
    return atomic_load(&s->slots[i].voucher_id) == voucher_id && now_ns < until_ns;
}
