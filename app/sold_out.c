/* SPDX-License-Identifier: MIT */
/* sold_out.c -- remembers for a moment that a voucher was sold out.
 *
 * Vouchers may share a slot.  A writer sets the number to 0, changes the end of the
 * hint, and then sets the new number.  A reader reads the number before and after the
 * end, so it never takes one voucher's hint for another's.
 */
#include "app/sold_out.h"

static int64_t ms_as_ns(int64_t ms)
{
    return ms * 1000000;
}

void sold_out_note(struct sold_out *s, int64_t voucher_id, int64_t asked_ns)
{
    size_t i = (size_t)((uint64_t)voucher_id % SOLD_OUT_SLOTS);

    /* If another thread is writing to the slot, this hint can be dropped. */
    if (atomic_flag_test_and_set(&s->slots[i].is_being_written))
        return;
    if (atomic_exchange(&s->slots[i].voucher_id, 0) != voucher_id)
        atomic_store(&s->slots[i].wanted_ns, asked_ns);
    atomic_store(&s->slots[i].until_ns, asked_ns + ms_as_ns(SOLD_OUT_MS));
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

size_t sold_out_ask(struct sold_out *s, int64_t voucher_id, int64_t now_ns,
                    int64_t ids[SOLD_OUT_ASKED_MAX])
{
    size_t first = (size_t)((uint64_t)voucher_id % SOLD_OUT_SLOTS);
    int64_t age_ns = now_ns + ms_as_ns(SOLD_OUT_MS) - atomic_load(&s->slots[first].until_ns);
    size_t count = 0;

    if (atomic_load(&s->slots[first].voucher_id) != voucher_id)
        return 0;
    if (now_ns - atomic_load(&s->slots[first].wanted_ns) > ms_as_ns(SOLD_OUT_OLD_MS))
        atomic_store(&s->slots[first].wanted_ns, now_ns);
    if (age_ns < ms_as_ns(SOLD_OUT_OLD_MS) || age_ns > ms_as_ns(SOLD_OUT_WANTED_MS) ||
        atomic_flag_test_and_set(&s->is_asking))
        return 0;
    for (size_t n = 0; n < SOLD_OUT_SLOTS && count < SOLD_OUT_ASKED_MAX; n++) {
        size_t i = (first + n) % SOLD_OUT_SLOTS;

        ids[count] = atomic_load(&s->slots[i].voucher_id);
        count += ids[count] != 0 && now_ns - atomic_load(&s->slots[i].wanted_ns) <
                                        ms_as_ns(SOLD_OUT_WANTED_MS);
    }
    if (count == 0)
        sold_out_asked(s);
    return count;
}

void sold_out_asked(struct sold_out *s)
{
    atomic_flag_clear(&s->is_asking);
}
