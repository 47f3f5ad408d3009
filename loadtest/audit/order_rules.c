/* SPDX-License-Identifier: MIT */
/* order_rules.c -- does every order keep to the rules of its sale? */
#include <inttypes.h>
#include <string.h>

#include "loadtest/audit/rules.h"

/* Two open requests of a buyer without an order may become two orders.  One request that is in
 * the ledger twice becomes one order. */
static void check_open_pair(const struct ledger_entry *a, const struct ledger_entry *b,
                            struct audit_finding *f)
{
    if (a->voucher != b->voucher || a->user != b->user || strcmp(a->request, b->request) == 0)
        return;
    audit_worsen(f, VERDICT_UNKNOWN, 0);
    audit_example(f,
                  "user %" PRId64 ", voucher %" PRId64
                  ": requests %s and %s may both still become orders",
                  a->user, a->voucher, a->request, b->request);
}

void audit_check_duplicates(const struct audit_case *c, struct audit_finding *f)
{
    for (size_t i = 1; i < c->in->order_count; i++) {
        const struct audit_order *a = c->by_user[i - 1], *b = c->by_user[i];

        if (a->user == b->user && a->voucher == b->voucher) {
            audit_worsen(f, VERDICT_INVALID, 1);
            audit_example(f,
                          "user %" PRId64 ", voucher %" PRId64 ": orders %" PRId64
                          " by %s and %" PRId64 " by %s",
                          a->user, a->voucher, a->id, a->process, b->id, b->process);
        }
    }
    for (size_t i = 0; i < c->open_count; i++) {
        const struct ledger_entry *e = c->open[i];

        if (audit_bought(c, e->user, e->voucher)) {
            audit_worsen(f, VERDICT_UNKNOWN, 0);
            audit_example(f,
                          "user %" PRId64 ": request %s may still become a second order",
                          e->user, e->request);
        } else if (i > 0) {
            check_open_pair(c->open[i - 1], e, f);
        }
    }
}

/* The instants of a window and of an admission are by the database's clock.  Both ends of a window
 * belong to the sale. */
static void check_admission(const struct audit_voucher *v, const struct audit_order *o,
                            struct audit_finding *f)
{
    int64_t early_us = v->begin_us - o->admitted_us, late_us = o->admitted_us - v->end_us;

    if (o->admitted_us == 0) {
        audit_worsen(f, VERDICT_UNKNOWN, 1);
        audit_example(f,
                      "order %" PRId64 " by %s does not say when it was admitted",
                      o->id, o->process);
    } else if (early_us > 0 || late_us > 0) {
        audit_worsen(f, VERDICT_INVALID, 1);
        audit_example(f, "order %" PRId64 " by %s was admitted %.6f s %s voucher %" PRId64,
                      o->id, o->process, (double)(early_us > 0 ? early_us : late_us) / 1e6,
                      early_us > 0 ? "before the sale of" : "after the sale of", v->id);
    }
}

void audit_check_window(const struct audit_case *c, const struct audit_voucher *v,
                        struct audit_finding *f)
{
    for (size_t i = 0; i < c->in->order_count; i++)
        if (c->in->orders[i].voucher == v->id)
            check_admission(v, &c->in->orders[i], f);
    if (v->is_window_moved) {
        audit_worsen(f, VERDICT_UNKNOWN, 0);
        audit_example(f,
                      "voucher %" PRId64 ": its window was changed after it was issued, and "
                      "nobody knows which of them an order was checked against",
                      v->id);
    }
}

static const struct audit_voucher *voucher_of(const struct audit_case *c,
                                              const struct audit_order *o)
{
    for (size_t i = 0; i < c->in->voucher_count; i++)
        if (c->in->vouchers[i].id == o->voucher)
            return &c->in->vouchers[i];
    return NULL;
}

/* A voucher is issued before an order is admitted, and the order is admitted before its row is
 * written.  Other times in a row mean that the clock of PostgreSQL was set back, so the times of
 * that process prove nothing about sale windows either. */
void audit_check_clock(const struct audit_case *c, struct audit_finding *f)
{
    for (size_t i = 0; i < c->in->order_count; i++) {
        const struct audit_order *o = &c->in->orders[i];
        const struct audit_voucher *v = voucher_of(c, o);
        int64_t before_us = v && v->issued_us ? v->issued_us - o->admitted_us : 0;
        int64_t after_us = o->created_us ? o->admitted_us - o->created_us : 0;

        if (o->admitted_us == 0 || (before_us <= AUDIT_CLOCK_SLACK_US &&
                                    after_us <= AUDIT_CLOCK_SLACK_US))
            continue;
        audit_worsen(f, VERDICT_UNKNOWN, 1);
        audit_example(f,
                      "order %" PRId64 " by %s was admitted %.6f s %s: was the clock of "
                      "PostgreSQL set back? Then no window is proved; run the sale again",
                      o->id, o->process,
                      (double)(after_us > AUDIT_CLOCK_SLACK_US ? after_us : before_us) / 1e6,
                      after_us > AUDIT_CLOCK_SLACK_US ? "after it was written"
                                                      : "before its voucher was issued");
    }
}
