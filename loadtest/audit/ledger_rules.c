/* SPDX-License-Identifier: MIT */
/* ledger_rules.c -- compares the answers that clients got with the orders in the
 * database. */
#include <inttypes.h>
#include <string.h>

#include "loadtest/audit/rules.h"
#include "loadtest/kit/bisect.h"

/* The row of the entry's request, if the row is of the voucher that the client ordered. */
static const struct audit_order *row_of(const struct audit_case *c,
                                        const struct ledger_entry *e)
{
    const struct audit_order *o = audit_order_of(c, e->user, e->request);

    return o && o->voucher == e->voucher ? o : NULL;
}

/* A queued order without a row is a broken promise, and not also a phantom.  A queued
 * order whose row has another number is a phantom. */
void audit_check_told(const struct audit_case *c, struct audit_finding *f)
{
    for (size_t i = 0; i < c->in->ledger->count; i++) {
        const struct ledger_entry *e = c->entries[i];
        const struct audit_order *o;

        if ((e->what != LEDGER_ACCEPTED && e->what != LEDGER_QUEUED) ||
            !audit_knows(c, e->voucher))
            continue;
        o = row_of(c, e);
        if (o ? o->id == e->order : e->what == LEDGER_QUEUED)
            continue;
        audit_worsen(f, VERDICT_INVALID, 1);
        if (o)
            audit_example(f,
                          "request %s of user %" PRId64 " was told order %" PRId64
                          ", and its row is order %" PRId64,
                          e->request, e->user, e->order, o->id);
        else
            audit_example(f,
                          "request %s of user %" PRId64 " was told order %" PRId64
                          ", which is lost: the request has no row",
                          e->request, e->user, e->order);
    }
}

/* As long as the service works, a queued order may still get its row. */
void audit_check_promises(const struct audit_case *c, struct audit_finding *f)
{
    for (size_t i = 0; i < c->in->ledger->count; i++) {
        const struct ledger_entry *e = c->entries[i];

        if (e->what != LEDGER_QUEUED || !audit_knows(c, e->voucher) || row_of(c, e))
            continue;
        audit_worsen(f, c->in->is_settled ? VERDICT_INVALID : VERDICT_UNKNOWN, 1);
        audit_example(f, "request %s of user %" PRId64 " was promised order %" PRId64 "%s",
                      e->request, e->user, e->order,
                      c->in->is_settled ? "" : ", which may still get its row");
    }
}

/* The first entry of that user and request; NULL: none. */
static const struct ledger_entry *const *first_entry(const struct audit_case *c,
                                                     const struct audit_order *o)
{
    const struct ledger_entry *const *e = c->entries;
    size_t at = 0;

    BISECT(at, c->in->ledger->count, i,
           audit_compare_keys(e[i]->user, e[i]->request, o->user, o->request) < 0);
    return &e[at];
}

/* The end of the entries of that user and request, which begin at `e`. */
static const struct ledger_entry *const *end_of(const struct audit_case *c,
                                                const struct ledger_entry *const *e,
                                                int64_t user, const char *request)
{
    const struct ledger_entry *const *last = c->entries + c->in->ledger->count;

    while (e < last && audit_compare_keys((*e)->user, (*e)->request, user, request) == 0)
        e++;
    return e;
}

/* Whether a client was told of this order, or is unsure of it.  Only a request of the same
 * user for the same voucher counts. */
static bool is_accounted_for(const struct audit_case *c, const struct audit_order *o)
{
    const struct ledger_entry *const *e = first_entry(c, o);
    const struct ledger_entry *const *end = end_of(c, e, o->user, o->request);

    for (; e < end; e++)
        if ((*e)->voucher == o->voucher && (*e)->what != LEDGER_SOLD_OUT)
            return true;
    return false;
}

void audit_check_untold(const struct audit_case *c, struct audit_finding *f)
{
    bool is_complete = c->in->ledger->is_complete;

    if (c->in->ledger->missing[0] != '\0')
        audit_example(f, "%s", c->in->ledger->missing);
    for (size_t i = 0; i < c->in->order_count; i++) {
        const struct audit_order *o = &c->in->orders[i];

        if (!audit_knows(c, o->voucher) || is_accounted_for(c, o))
            continue;
        audit_worsen(f, is_complete ? VERDICT_INVALID : VERDICT_UNKNOWN, 1);
        audit_example(f,
                      "order %" PRId64 " of user %" PRId64 ", request %s, voucher %" PRId64,
                      o->id, o->user, o->request, o->voucher);
    }
    /* Without a file, or the end line of one, the ledger may lack any number of answers. */
    if (!is_complete)
        audit_worsen(f, VERDICT_UNKNOWN, 0);
}

/* Whether one request may have got both answers.  A client repeats a request that was not
 * answered, so one of the two answers may be "unsure".  The ledger does not say which came
 * first. */
static enum verdict judge_pair(const struct audit_case *c,
                                   const struct ledger_entry *a,
                                   const struct ledger_entry *b)
{
    bool is_open = (a->what == LEDGER_UNSURE) != (b->what == LEDGER_UNSURE);
    bool is_refused = a->what == LEDGER_SOLD_OUT || b->what == LEDGER_SOLD_OUT;

    if (a->what == b->what && a->voucher == b->voucher && a->order == b->order)
        return VERDICT_UNKNOWN; /* a copied line: no load generator sends an id twice */
    if (a->what == LEDGER_ACCEPTED && b->what == LEDGER_QUEUED && a->voucher == b->voucher &&
        a->order == b->order)
        return VERDICT_VALID; /* the order was queued, and the client asked again when the
                               * row was there */
    if (a->voucher != b->voucher)
        return VERDICT_UNKNOWN; /* two requests under one id */
    if (!is_open)
        return VERDICT_INVALID;
    return is_refused && audit_order_of(c, a->user, a->request) ? VERDICT_UNKNOWN
                                                                : VERDICT_VALID;
}

static const char *wording(const struct ledger_entry *a, const struct ledger_entry *b)
{
    if (a->voucher != b->voucher)
        return "two requests had one id; give each its own";
    if (a->what == b->what && a->order == b->order)
        return "the line is there twice; was a ledger copied, or did two runs write into one "
               "directory? Give each its own and run again";
    return "the answers exclude each other";
}

/* Each entry is compared with the entry before it of the same user and request.  Entries
 * are sorted by their answers, so answers that contradict each other are neighbours. */
void audit_check_twice(const struct audit_case *c, struct audit_finding *f)
{
    for (size_t i = 1; i < c->in->ledger->count; i++) {
        const struct ledger_entry *a = c->entries[i - 1], *b = c->entries[i];
        enum verdict valid;

        if (audit_compare_keys(a->user, a->request, b->user, b->request) != 0)
            continue;
        valid = judge_pair(c, a, b);
        if (valid == VERDICT_VALID)
            continue;
        audit_worsen(f, valid, 1);
        audit_example(f, "request %s of user %" PRId64 ": %s:%d and %s:%d: %s", b->request,
                      b->user, ledger_path(c->in->ledger, a), a->line,
                      ledger_path(c->in->ledger, b), b->line, wording(a, b));
    }
}

/* An order of a voucher that does not exist makes the run invalid.  An answer about a voucher that
 * is not audited makes the verdict unknown. */
void audit_check_vouchers(const struct audit_case *c, struct audit_finding *f)
{
    for (size_t i = 0; i < c->in->order_count; i++) {
        const struct audit_order *o = &c->in->orders[i];

        if (audit_knows(c, o->voucher))
            continue;
        audit_worsen(f, VERDICT_INVALID, 1);
        audit_example(f,
                      "order %" PRId64 " of user %" PRId64 " by %s is of voucher %" PRId64
                      ", which does not exist",
                      o->id, o->user, o->process, o->voucher);
    }
    for (size_t i = 0; i < c->in->ledger->count; i++) {
        const struct ledger_entry *e = &c->in->ledger->entries[i];

        if (audit_knows(c, e->voucher))
            continue;
        audit_worsen(f, VERDICT_UNKNOWN, 1);
        audit_example(f,
                      "%s:%d: an answer about voucher %" PRId64
                      ", which is not audited; name all vouchers of the run with --voucher",
                      ledger_path(c->in->ledger, e), e->line, e->voucher);
    }
}
