/* SPDX-License-Identifier: MIT */
/* case.c -- sorts the input of the audit for its rules, and adds cases to findings. */
#include "loadtest/audit/case.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "loadtest/kit/compare.h"

void audit_example(struct audit_finding *f, const char *fmt, ...)
{
    va_list args;

    if (f->example_count >= AUDIT_EXAMPLES)
        return;
    va_start(args, fmt);
    vsnprintf(f->examples[f->example_count++], AUDIT_EXAMPLE_MAX, fmt, args);
    va_end(args);
}

void audit_worsen(struct audit_finding *f, enum verdict valid, int64_t count)
{
    f->valid = verdict_worse(f->valid, valid);
    f->count += count;
}

int audit_compare_keys(int64_t user_a, const char *request_a, int64_t user_b,
                       const char *request_b)
{
    int by_user = COMPARE(user_a, user_b);

    return by_user != 0 ? by_user : strcmp(request_a, request_b);
}

static int compare_requests(const void *a, const void *b)
{
    const struct audit_order *x = *(const struct audit_order *const *)a;
    const struct audit_order *y = *(const struct audit_order *const *)b;

    return audit_compare_keys(x->user, x->request, y->user, y->request);
}

/* The order of the entries of one request: answers that name an order come first, so that two of
 * them are neighbours; unsure entries come last. */
static int rank(enum ledger_what what)
{
    static const int RANKS[] = {
        [LEDGER_ACCEPTED] = 0, [LEDGER_QUEUED] = 1, [LEDGER_SOLD_OUT] = 2, [LEDGER_UNSURE] = 3};

    return RANKS[what];
}

static int compare_entries(const void *a, const void *b)
{
    const struct ledger_entry *x = *(const struct ledger_entry *const *)a;
    const struct ledger_entry *y = *(const struct ledger_entry *const *)b;
    const int by[] = {audit_compare_keys(x->user, x->request, y->user, y->request),
                      rank(x->what) - rank(y->what),
                      COMPARE(x->voucher, y->voucher),
                      COMPARE(x->order, y->order),
                      COMPARE(x->file, y->file),
                      COMPARE(x->line, y->line)};
    size_t i = 0;

    while (i + 1 < sizeof by / sizeof by[0] && by[i] == 0)
        i++;
    return by[i];
}

static int compare_open(const void *a, const void *b)
{
    const struct ledger_entry *x = *(const struct ledger_entry *const *)a;
    const struct ledger_entry *y = *(const struct ledger_entry *const *)b;
    int by_voucher = COMPARE(x->voucher, y->voucher);

    return by_voucher != 0 ? by_voucher
                           : audit_compare_keys(x->user, x->request, y->user, y->request);
}

static int compare_buyers(const struct audit_order *x, const struct audit_order *y)
{
    int by_voucher = COMPARE(x->voucher, y->voucher);

    return by_voucher != 0 ? by_voucher : COMPARE(x->user, y->user);
}

static int compare_users(const void *a, const void *b)
{
    const struct audit_order *x = *(const struct audit_order *const *)a;
    const struct audit_order *y = *(const struct audit_order *const *)b;
    int by_buyer = compare_buyers(x, y);

    return by_buyer != 0 ? by_buyer : COMPARE(x->id, y->id);
}

static int compare_bought(const void *a, const void *b)
{
    return compare_buyers(*(const struct audit_order *const *)a,
                          *(const struct audit_order *const *)b);
}

static void *make(size_t count, size_t size)
{
    void *memory = calloc(count + 1, size);

    if (!memory)
        abort();
    return memory;
}

bool audit_knows(const struct audit_case *c, int64_t voucher)
{
    for (size_t i = 0; i < c->in->voucher_count; i++)
        if (c->in->vouchers[i].id == voucher)
            return true;
    return false;
}

static const struct audit_order *find(const struct audit_case *c,
                                      const struct audit_order **orders,
                                      const struct audit_order *key,
                                      int (*by)(const void *, const void *))
{
    const struct audit_order *const *found =
        bsearch(&key, orders, c->in->order_count, sizeof(void *), by);

    return found ? *found : NULL;
}

const struct audit_order *audit_order_of(const struct audit_case *c, int64_t user,
                                         const char *request)
{
    const struct audit_order key = {.user = user, .request = request};

    return find(c, c->by_request, &key, compare_requests);
}

const struct audit_order *audit_bought(const struct audit_case *c, int64_t user,
                                       int64_t voucher)
{
    const struct audit_order key = {.user = user, .voucher = voucher};

    return find(c, c->by_user, &key, compare_bought);
}

int64_t audit_open_for(const struct audit_case *c, int64_t voucher)
{
    int64_t n = 0;

    for (size_t i = 0; i < c->open_count; i++)
        n += c->open[i]->voucher == voucher;
    return n;
}

void audit_case_make(struct audit_case *c, const struct audit_input *in)
{
    size_t orders = in->order_count, entries = in->ledger->count;

    *c = (struct audit_case){.in = in,
                             .by_request = make(orders, sizeof(void *)),
                             .by_user = make(orders, sizeof(void *)),
                             .entries = make(entries, sizeof(void *)),
                             .open = make(entries, sizeof(void *))};
    for (size_t i = 0; i < orders; i++)
        c->by_request[i] = c->by_user[i] = &in->orders[i];
    qsort(c->by_request, orders, sizeof(void *), compare_requests);
    qsort(c->by_user, orders, sizeof(void *), compare_users);
    for (size_t i = 0; i < entries; i++) {
        const struct ledger_entry *e = &in->ledger->entries[i];

        c->entries[i] = e;
        if ((e->what == LEDGER_UNSURE || e->what == LEDGER_QUEUED) && !in->is_settled &&
            !audit_order_of(c, e->user, e->request))
            c->open[c->open_count++] = e;
    }
    qsort(c->entries, entries, sizeof(void *), compare_entries);
    qsort(c->open, c->open_count, sizeof(void *), compare_open);
}

void audit_case_free(struct audit_case *c)
{
    free(c->by_request);
    free(c->by_user);
    free(c->entries);
    free(c->open);
}
