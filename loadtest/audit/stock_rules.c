/* SPDX-License-Identifier: MIT */
/* stock_rules.c -- compares the orders and the stock left with the stock that was issued.
 */
#include <inttypes.h>

#include "loadtest/audit/rules.h"

static int64_t orders_for(const struct audit_case *c, int64_t voucher)
{
    int64_t n = 0;

    for (size_t i = 0; i < c->in->order_count; i++)
        n += c->in->orders[i].voucher == voucher;
    return n;
}

static bool was_called_sold_out(const struct audit_case *c, int64_t voucher)
{
    for (size_t i = 0; i < c->in->ledger->count; i++) {
        const struct ledger_entry *e = &c->in->ledger->entries[i];

        if (e->what == LEDGER_SOLD_OUT && e->voucher == voucher)
            return true;
    }
    return false;
}

static void check_oversold(const struct audit_voucher *v, int64_t orders, int64_t open,
                           struct audit_finding *f)
{
    if (orders > v->issued) {
        audit_worsen(f, VERDICT_INVALID, orders - v->issued);
        audit_example(f, "voucher %" PRId64 ": stock %" PRId64 ", orders %" PRId64, v->id,
                      v->issued, orders);
    } else if (orders + open > v->issued) {
        audit_worsen(f, VERDICT_UNKNOWN, 0);
        audit_example(f,
                      "voucher %" PRId64 ": %" PRId64 " requests without an answer or a row may "
                      "still sell; audit again when the service has ended",
                      v->id, open);
    }
}

/* One transaction writes an order and takes its unit of the stock, and the audit reads both in one
 * snapshot.  So a request that is still open cannot explain a difference. */
static void check_lost(const struct audit_voucher *v, int64_t orders,
                       struct audit_finding *f)
{
    int64_t off = v->left + orders - v->issued;

    if (off == 0)
        return;
    audit_worsen(f, VERDICT_INVALID, off < 0 ? -off : off);
    audit_example(f,
                  "voucher %" PRId64 ": issued %" PRId64 ", but left %" PRId64
                  " + orders %" PRId64 " = %" PRId64,
                  v->id, v->issued, v->left, orders, v->left + orders);
}

void audit_check_stock(const struct audit_case *c, const struct audit_voucher *v,
                       struct audit_finding *findings)
{
    struct audit_finding *under = &findings[AUDIT_UNDERSOLD];
    int64_t orders = orders_for(c, v->id), open = audit_open_for(c, v->id);

    check_oversold(v, orders, open, &findings[AUDIT_OVERSOLD]);
    check_lost(v, orders, &findings[AUDIT_LOST_UPDATE]);
    if (orders < v->issued && v->left > 0 && was_called_sold_out(c, v->id)) {
        audit_worsen(under, orders + open >= v->issued ? VERDICT_UNKNOWN : VERDICT_INVALID,
                     v->issued - orders);
        audit_example(under, "voucher %" PRId64 ": called sold out with %" PRId64 " left",
                      v->id, v->left);
    }
}
