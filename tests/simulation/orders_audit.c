/* SPDX-License-Identifier: MIT */
/* orders_audit.c -- runs the audit of loadtest/audit/ on the rows of the model. */
#include "tests/simulation/orders_audit.h"

#include <stdio.h>
#include <stdlib.h>

#include "loadtest/audit/audit.h"

static void *make(size_t count, size_t size)
{
    void *memory = calloc(count + 1, size);

    if (memory == NULL)
        abort();
    return memory;
}

static size_t list_vouchers(const struct postgres_model *model, struct audit_voucher *out)
{
    for (size_t i = 0; i < model->voucher_count; i++) {
        const struct postgres_voucher *v = &model->vouchers[i];

        out[i] = (struct audit_voucher){.id = v->id,
                                        .issued = v->issued,
                                        .left = v->committed.stock,
                                        .fence = (uint64_t)v->committed.fence,
                                        .begin_us = v->begin_us,
                                        .end_us = v->end_us};
    }
    return model->voucher_count;
}

static size_t list_orders(const struct postgres_model *model, struct audit_order *out)
{
    size_t count = 0;

    for (size_t i = 0; i < model->order_count; i++) {
        const struct postgres_order *order = &model->orders[i];

        if (order->is_committed)
            out[count++] = (struct audit_order){.id = order->id,
                                                .user = order->user,
                                                .voucher = order->voucher,
                                                .request = order->request,
                                                .process = order->process,
                                                .admitted_us = order->admitted_us,
                                                .created_us = order->created_us};
    }
    return count;
}

static void add_entry(struct ledger *ledger, const struct orders_asked *asked,
                      enum ledger_what what)
{
    bool has_order = what == LEDGER_ACCEPTED || what == LEDGER_QUEUED;

    ledger->entries[ledger->count++] =
        (struct ledger_entry){.what = what,
                              .request = asked->id,
                              .order = has_order ? asked->order : 0,
                              .user = asked->user,
                              .voucher = asked->voucher,
                              .line = (int)ledger->count};
}

/* A ledger has no refusals, except `sold out`. */
static void add_asked(struct ledger *ledger, const struct orders_asked *asked)
{
    ledger->sent++;
    ledger->answered++;
    ledger->accepted += asked->answer == ORDERS_ACCEPTED;
    if (asked->was_unsure)
        add_entry(ledger, asked, LEDGER_UNSURE);
    switch (asked->answer) {
    case ORDERS_ACCEPTED:
        add_entry(ledger, asked, LEDGER_ACCEPTED);
        break;
    case ORDERS_QUEUED:
        add_entry(ledger, asked, LEDGER_QUEUED);
        break;
    case ORDERS_SOLD_OUT:
        add_entry(ledger, asked, LEDGER_SOLD_OUT);
        break;
    case ORDERS_UNSURE:
    case ORDERS_NO_ANSWER:
        if (!asked->was_unsure)
            add_entry(ledger, asked, LEDGER_UNSURE);
        break;
    case ORDERS_REFUSED:
        break;
    }
}

static enum orders_finding finding_of(enum audit_check check)
{
    switch (check) {
    case AUDIT_OVERSOLD:
        return ORDERS_OVERSOLD;
    case AUDIT_LOST_UPDATE:
        return ORDERS_LOST_UPDATE;
    case AUDIT_DUPLICATE:
        return ORDERS_DUPLICATE;
    case AUDIT_BROKEN_PROMISE:
        return ORDERS_PROMISE;
    case AUDIT_UNDERSOLD:
        return ORDERS_UNDERSOLD;
    default:
        return ORDERS_WRONG;
    }
}

enum orders_finding orders_audit(const struct postgres_model *model,
                                 const struct orders_asked *asked, size_t count,
                                 char why[ORDERS_WHY_SIZE])
{
    static char path[] = "told";
    struct audit_voucher vouchers[POSTGRES_VOUCHERS_MAX];
    struct audit_order *orders = make(model->order_count, sizeof(*orders));
    struct ledger ledger = {.entries = make(2 * count, sizeof(*ledger.entries)),
                            .files = 1, .is_complete = true, .paths = {path}};
    enum orders_finding finding = ORDERS_VALID;
    struct audit_input input = {.vouchers = vouchers, .orders = orders, .ledger = &ledger,
                                .is_settled = true};
    struct audit_verdict verdict;

    input.voucher_count = list_vouchers(model, vouchers);
    input.order_count = list_orders(model, orders);
    for (size_t i = 0; i < count; i++)
        add_asked(&ledger, &asked[i]);
    audit_judge(&input, &verdict);
    for (int i = 0; i < AUDIT_CHECK_COUNT && finding == ORDERS_VALID; i++) {
        if (verdict.findings[i].valid != VERDICT_INVALID)
            continue;
        finding = finding_of((enum audit_check)i);
        (void)snprintf(why, ORDERS_WHY_SIZE, "%s: %.120s",
                       audit_check_name((enum audit_check)i), verdict.findings[i].examples[0]);
    }
    free(orders);
    free(ledger.entries);
    return finding;
}
