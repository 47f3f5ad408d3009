/* SPDX-License-Identifier: MIT */
/* orders.c -- orders, stock and the resource's own record agree: each accepted write is
 * one order and one unit of the stock, each order is an accepted write, and no request is
 * accepted twice. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "loadtest/check/checks/checks.h"
#include "loadtest/kit/memory.h"

/* A request, with its orders and its writes. */
struct line {
    int64_t user; /* two users may choose the same id for their requests */
    const char *request;
    uint32_t name;
    bool is_order; /* else a write that was taken */
};

static int compare_requests(const struct line *a, const struct line *b)
{
    int order = COMPARE(a->user, b->user);

    return order != 0 ? order : strcmp(a->request, b->request);
}

static int by_request(const void *a, const void *b)
{
    const struct line *x = a, *y = b;
    int order = compare_requests(x, y);

    return order != 0 ? order : x->is_order - y->is_order;
}

static const struct check_voucher *voucher_of(const struct check *c, int64_t id)
{
    for (size_t i = 0; i < c->options->voucher_count; i++)
        if (c->options->vouchers[i].id == id)
            return &c->options->vouchers[i];
    return NULL;
}

static size_t gather(const struct check *c, struct line *lines)
{
    const struct check_options *o = c->options;
    size_t n = 0;

    for (size_t i = 0; i < o->write_count; i++)
        if (o->writes[i].is_accepted)
            lines[n++] = (struct line){o->writes[i].user, o->writes[i].request,
                                       o->writes[i].name, false};
    for (size_t i = 0; i < o->order_count; i++) {
        const struct check_voucher *voucher = voucher_of(c, o->orders[i].voucher);

        if (voucher != NULL)
            lines[n++] = (struct line){o->orders[i].user, o->orders[i].request,
                                       voucher->name, true};
    }
    return n;
}

static void violation(struct check *c, const struct line *line, const char *what)
{
    c->lock.name = line->name;
    check_violation(c, CHECK_orders, DLOCK_ASSUMES_NONE, NO_CALL, NO_CALL, 0, 0,
                    "request %s %s", line->request, what);
}

static void judge_request(struct check *c, const struct line *lines, size_t count)
{
    size_t orders = 0;

    for (size_t i = 0; i < count; i++)
        orders += lines[i].is_order;
    if (orders == 0)
        violation(c, lines, "was taken, and has no order");
    else if (orders == count)
        violation(c, lines, "has an order, and was not taken");
    else if (count > 2)
        violation(c, lines, "was taken more than once");
}

/* The sum of the accepted writes, one after another. */
static void replay(struct check *c, const struct check_voucher *voucher)
{
    const struct check_options *o = c->options;
    int64_t taken = 0;
    uint64_t fence = 0;
    bool keeps_fence = true;

    for (size_t i = 0; i < o->write_count; i++) {
        const struct check_write *write = &o->writes[i];

        if (write->voucher != voucher->id || !write->is_accepted)
            continue;
        taken++;
        keeps_fence = keeps_fence && write->sets_fence;
        fence = write->fence > fence ? write->fence : fence;
    }
    c->lock.name = voucher->name;
    if (voucher->left != voucher->issued - taken)
        check_violation(c, CHECK_orders, DLOCK_ASSUMES_NONE, NO_CALL, NO_CALL, 0, 0,
                        "%" PRId64 " writes were taken of a stock of %" PRId64
                        ", and %" PRId64 " are left",
                        taken, voucher->issued, voucher->left);
    if (taken > 0 && keeps_fence && voucher->fence != fence)
        check_violation(c, CHECK_orders, DLOCK_ASSUMES_NONE, NO_CALL, NO_CALL, 0, 0,
                        "the last fence taken is %" PRIu64 ", and the row says %" PRIu64,
                        fence, voucher->fence);
}

void check_orders(struct check *c)
{
    const struct check_options *o = c->options;
    struct check_finding *finding = &c->out->findings[CHECK_orders];
    struct line *lines;
    size_t count, end;

    if (o->voucher_count == 0)
        return;
    lines = memory_need(malloc((o->write_count + o->order_count + 1) * sizeof(*lines)));
    finding->is_claimed = true;
    count = gather(c, lines);
    qsort(lines, count, sizeof(*lines), by_request);
    for (size_t i = 0; i < count; i = end) {
        for (end = i + 1; end < count; end++)
            if (compare_requests(&lines[end], &lines[i]) != 0)
                break;
        finding->looked++;
        judge_request(c, lines + i, end - i);
    }
    for (size_t i = 0; i < o->voucher_count; i++)
        replay(c, &o->vouchers[i]);
    free(lines);
}
