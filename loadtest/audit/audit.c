/* SPDX-License-Identifier: MIT */
/* audit.c -- judges a sale: one function per thing that is looked for. */
#include "loadtest/audit/audit.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/text/exit_codes.h"

/* The input once more, in the orders that the checks need. */
struct sorted {
    const struct audit_input *in;
    const struct audit_order **by_request, **by_user;
    const struct ledger_entry **told; /* accepted and unsure entries, by request      */
    size_t told_count;
    size_t open_count; /* unsure, not in the database, and may still get there        */
    const struct ledger_entry **open;
};

static const char *const names[] = {
#define X(id, name, text) name,
    AUDIT_CHECKS(X)
#undef X
};

static const char *const texts[] = {
#define X(id, name, text) text,
    AUDIT_CHECKS(X)
#undef X
};

const char *audit_check_name(enum audit_check check)
{
    return names[check];
}

const char *audit_check_text(enum audit_check check)
{
    return texts[check];
}

int audit_exit_code(enum audit_valid valid)
{
    return valid == AUDIT_VALID     ? EXIT_VALID
           : valid == AUDIT_INVALID ? EXIT_INVALID
                                    : EXIT_UNKNOWN;
}

static void example(struct audit_finding *f, const char *fmt, ...)
    __attribute__((format(printf, 2, 3)));

static void example(struct audit_finding *f, const char *fmt, ...)
{
    va_list args;

    if (f->example_count >= AUDIT_EXAMPLES)
        return;
    va_start(args, fmt);
    vsnprintf(f->examples[f->example_count++], AUDIT_EXAMPLE_MAX, fmt, args);
    va_end(args);
}

static void worsen(struct audit_finding *f, enum audit_valid valid, int64_t count)
{
    f->valid = valid > f->valid ? valid : f->valid;
    f->count += count;
}

/* A request's id belongs to its user: two users may choose the same. */
static int compare_keys(int64_t user_a, const char *request_a, int64_t user_b,
                        const char *request_b)
{
    if (user_a != user_b)
        return user_a < user_b ? -1 : 1;
    return strcmp(request_a, request_b);
}

static int compare_requests(const void *a, const void *b)
{
    const struct audit_order *x = *(const struct audit_order *const *)a;
    const struct audit_order *y = *(const struct audit_order *const *)b;

    return compare_keys(x->user, x->request, y->user, y->request);
}

static int compare_entries(const void *a, const void *b)
{
    const struct ledger_entry *x = *(const struct ledger_entry *const *)a;
    const struct ledger_entry *y = *(const struct ledger_entry *const *)b;

    return compare_keys(x->user, x->request, y->user, y->request);
}

static int compare_users(const void *a, const void *b)
{
    const struct audit_order *x = *(const struct audit_order *const *)a;
    const struct audit_order *y = *(const struct audit_order *const *)b;

    if (x->voucher != y->voucher)
        return x->voucher < y->voucher ? -1 : 1;
    if (x->user != y->user)
        return x->user < y->user ? -1 : 1;
    return (x->id > y->id) - (x->id < y->id);
}

static void *make(size_t count, size_t size)
{
    void *memory = calloc(count + 1, size);

    if (!memory)
        abort();
    return memory;
}

/* The order of what a client was told, or is unsure about. */
static const struct audit_order *order_of(const struct sorted *s,
                                          const struct ledger_entry *e)
{
    struct audit_order key = {.user = e->user, .request = e->request};
    const struct audit_order *p = &key;
    const struct audit_order *const *found;

    found = bsearch(&p, s->by_request, s->in->order_count, sizeof(void *),
                    compare_requests);
    return found ? *found : NULL;
}

static const struct ledger_entry *entry_of(const struct sorted *s,
                                           const struct audit_order *order)
{
    struct ledger_entry key = {.user = order->user, .request = order->request};
    const struct ledger_entry *p = &key;
    const struct ledger_entry *const *found;

    found = bsearch(&p, s->told, s->told_count, sizeof(void *), compare_entries);
    return found ? *found : NULL;
}

static void sort_input(struct sorted *s, const struct audit_input *in)
{
    *s = (struct sorted){.in = in,
                         .by_request = make(in->order_count, sizeof(void *)),
                         .by_user = make(in->order_count, sizeof(void *)),
                         .told = make(in->ledger->count, sizeof(void *)),
                         .open = make(in->ledger->count, sizeof(void *))};
    for (size_t i = 0; i < in->order_count; i++)
        s->by_request[i] = s->by_user[i] = &in->orders[i];
    qsort(s->by_request, in->order_count, sizeof(void *), compare_requests);
    qsort(s->by_user, in->order_count, sizeof(void *), compare_users);
    for (size_t i = 0; i < in->ledger->count; i++) {
        const struct ledger_entry *e = &in->ledger->entries[i];

        if (e->what == LEDGER_SOLD_OUT)
            continue;
        s->told[s->told_count++] = e;
        if (e->what == LEDGER_UNSURE && !in->is_settled && !order_of(s, e))
            s->open[s->open_count++] = e;
    }
    qsort(s->told, s->told_count, sizeof(void *), compare_entries);
}

static int64_t orders_for(const struct sorted *s, int64_t voucher)
{
    int64_t n = 0;

    for (size_t i = 0; i < s->in->order_count; i++)
        n += s->in->orders[i].voucher == voucher;
    return n;
}

static int64_t open_for(const struct sorted *s, int64_t voucher)
{
    int64_t n = 0;

    for (size_t i = 0; i < s->open_count; i++)
        n += s->open[i]->voucher == voucher;
    return n;
}

static bool was_called_sold_out(const struct sorted *s, int64_t voucher)
{
    for (size_t i = 0; i < s->in->ledger->count; i++) {
        const struct ledger_entry *e = &s->in->ledger->entries[i];

        if (e->what == LEDGER_SOLD_OUT && e->voucher == voucher)
            return true;
    }
    return false;
}

static void check_stock(const struct sorted *s, const struct audit_voucher *v,
                        struct audit_finding *findings)
{
    struct audit_finding *over = &findings[AUDIT_OVERSOLD];
    struct audit_finding *lost = &findings[AUDIT_LOST_UPDATE];
    struct audit_finding *under = &findings[AUDIT_UNDERSOLD];
    int64_t orders = orders_for(s, v->id), open = open_for(s, v->id);
    int64_t off = v->left + orders - v->issued;

    if (orders > v->issued) {
        worsen(over, AUDIT_INVALID, orders - v->issued);
        example(over, "voucher %" PRId64 ": stock %" PRId64 ", orders %" PRId64, v->id,
                v->issued, orders);
    } else if (orders + open > v->issued) {
        worsen(over, AUDIT_UNKNOWN, 0);
        example(over,
                "voucher %" PRId64 ": %" PRId64 " unanswered requests may still sell",
                v->id, open);
    }
    if (off != 0) {
        worsen(lost, open ? AUDIT_UNKNOWN : AUDIT_INVALID, off < 0 ? -off : off);
        example(lost,
                "voucher %" PRId64 ": issued %" PRId64 ", but left %" PRId64
                " + orders %" PRId64 " = %" PRId64,
                v->id, v->issued, v->left, orders, v->left + orders);
    }
    if (orders < v->issued && v->left > 0 && was_called_sold_out(s, v->id)) {
        worsen(under, orders + open >= v->issued ? AUDIT_UNKNOWN : AUDIT_INVALID,
               v->issued - orders);
        example(under, "voucher %" PRId64 ": called sold out with %" PRId64 " left",
                v->id, v->left);
    }
}

/* An instant of a window is that of the database's clock, as the service knew it. */
static void check_window(const struct sorted *s, const struct audit_voucher *v,
                         struct audit_finding *f)
{
    if (v->begin_us == 0 && v->end_us == 0)
        return;
    for (size_t i = 0; i < s->in->order_count; i++) {
        const struct audit_order *order = &s->in->orders[i];
        int64_t early_us = v->begin_us - order->admitted_us;
        int64_t late_us = order->admitted_us - v->end_us;

        if (order->voucher != v->id)
            continue;
        if (order->admitted_us == 0) {
            worsen(f, AUDIT_UNKNOWN, 1);
            example(f, "order %" PRId64 " by %s does not say when it was admitted",
                    order->id, order->process);
        } else if (early_us > 0 || late_us > 0) {
            worsen(f, AUDIT_INVALID, 1);
            example(f, "order %" PRId64 " by %s was admitted %.6f s %s voucher %" PRId64,
                    order->id, order->process,
                    (double)(early_us > 0 ? early_us : late_us) / 1e6,
                    early_us > 0 ? "before the sale of" : "after the sale of", v->id);
        }
    }
}

static void check_duplicates(const struct sorted *s, struct audit_finding *f)
{
    for (size_t i = 1; i < s->in->order_count; i++) {
        const struct audit_order *a = s->by_user[i - 1], *b = s->by_user[i];

        if (a->user == b->user && a->voucher == b->voucher) {
            worsen(f, AUDIT_INVALID, 1);
            example(f,
                    "user %" PRId64 ", voucher %" PRId64 ": orders %" PRId64
                    " by %s and %" PRId64 " by %s",
                    a->user, a->voucher, a->id, a->process, b->id, b->process);
        }
    }
    for (size_t i = 0; i < s->open_count; i++) {
        const struct audit_order key = {.user = s->open[i]->user,
                                        .voucher = s->open[i]->voucher};

        for (size_t k = 0; k < s->in->order_count; k++) {
            if (s->by_user[k]->user == key.user &&
                s->by_user[k]->voucher == key.voucher) {
                worsen(f, AUDIT_UNKNOWN, 0);
                example(f,
                        "user %" PRId64 ": request %s may still become a second order",
                        key.user, s->open[i]->request);
                break;
            }
        }
    }
}

static bool fits(const struct ledger_entry *e, const struct audit_order *order)
{
    return order && order->id == e->order && order->user == e->user &&
           order->voucher == e->voucher;
}

static void check_told(const struct sorted *s, struct audit_finding *f)
{
    for (size_t i = 0; i < s->told_count; i++) {
        const struct ledger_entry *e = s->told[i];

        if (e->what != LEDGER_ACCEPTED || fits(e, order_of(s, e)))
            continue;
        worsen(f, AUDIT_INVALID, 1);
        example(f, "request %s of user %" PRId64 " was told order %" PRId64, e->request,
                e->user, e->order);
    }
}

static void check_untold(const struct sorted *s, struct audit_finding *f)
{
    bool complete = s->in->ledger->is_complete;

    for (size_t i = 0; i < s->in->order_count; i++) {
        const struct audit_order *order = &s->in->orders[i];

        if (entry_of(s, order))
            continue;
        worsen(f, complete ? AUDIT_INVALID : AUDIT_UNKNOWN, 1);
        example(f, "order %" PRId64 " of user %" PRId64 ", request %s", order->id,
                order->user, order->request);
    }
    /* Without its end nobody knows what else the ledger would have said. */
    if (!complete)
        worsen(f, AUDIT_UNKNOWN, 0);
}

void audit_judge(const struct audit_input *input, struct audit_verdict *out)
{
    struct sorted s;

    *out = (struct audit_verdict){.orders = (int64_t)input->order_count};
    sort_input(&s, input);
    for (size_t i = 0; i < input->voucher_count; i++) {
        out->issued += input->vouchers[i].issued;
        out->left += input->vouchers[i].left;
        check_stock(&s, &input->vouchers[i], out->findings);
        check_window(&s, &input->vouchers[i], &out->findings[AUDIT_OUTSIDE_WINDOW]);
    }
    check_duplicates(&s, &out->findings[AUDIT_DUPLICATE]);
    check_told(&s, &out->findings[AUDIT_TOLD_NOT_THERE]);
    check_untold(&s, &out->findings[AUDIT_THERE_NOT_TOLD]);
    if (input->order_count == 0)
        worsen(&out->findings[AUDIT_NOTHING_SOLD], AUDIT_UNKNOWN, 0);
    for (size_t i = 0; i < s.told_count; i++) {
        out->told += s.told[i]->what == LEDGER_ACCEPTED;
        out->unsure += s.told[i]->what == LEDGER_UNSURE;
    }
    for (int i = 0; i < AUDIT_CHECK_COUNT; i++)
        out->valid =
            out->findings[i].valid > out->valid ? out->findings[i].valid : out->valid;
    free(s.by_request);
    free(s.by_user);
    free(s.told);
    free(s.open);
}

static json_t *valid_to_json(enum audit_valid valid)
{
    return valid == AUDIT_UNKNOWN ? json_string("unknown")
                                  : json_boolean(valid == AUDIT_VALID);
}

json_t *audit_to_json(const struct audit_verdict *verdict, const char *source)
{
    json_t *checks = json_object();

    for (int i = 0; i < AUDIT_CHECK_COUNT; i++) {
        const struct audit_finding *f = &verdict->findings[i];
        json_t *examples = json_array();

        for (int k = 0; k < f->example_count; k++)
            json_array_append_new(examples, json_string(f->examples[k]));
        json_object_set_new(checks, names[i],
                            json_pack("{s:o, s:I, s:o}", "valid",
                                      valid_to_json(f->valid), "count",
                                      (json_int_t)f->count, "examples", examples));
    }
    return json_pack("{s:o, s:s, s:I, s:I, s:I, s:I, s:I, s:o}", "valid",
                     valid_to_json(verdict->valid), "source", source, "issued",
                     (json_int_t)verdict->issued, "left", (json_int_t)verdict->left,
                     "orders", (json_int_t)verdict->orders, "told",
                     (json_int_t)verdict->told, "unsure", (json_int_t)verdict->unsure,
                     "checks", checks);
}
