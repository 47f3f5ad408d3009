/* SPDX-License-Identifier: MIT */
/* lost.c -- finds the acknowledged orders that are gone. */
#include "loadtest/audit/lost.h"

#include "loadtest/audit/case.h"

static bool is_lost(const struct audit_case *c, const struct ledger_entry *e)
{
    const struct audit_order *o;

    if (e->what != LEDGER_ACCEPTED || !audit_knows(c, e->voucher))
        return false;
    o = audit_order_of(c, e->user, e->request);
    return o == NULL || o->voucher != e->voucher;
}

int64_t audit_each_lost(const struct audit_input *input, audit_lost_fn *each, void *arg)
{
    int64_t count = 0;
    struct audit_case c;

    audit_case_make(&c, input);
    for (size_t i = 0; i < input->ledger->count; i++) {
        if (!is_lost(&c, c.entries[i]))
            continue;
        count++;
        if (each)
            each(c.entries[i], arg);
    }
    audit_case_free(&c);
    return count;
}
