/* SPDX-License-Identifier: MIT */
/* audit.h -- judge a sale.
 *
 * The audit has three inputs, of which the judged service writes only the second: the stock that
 * was issued before the run, the orders that are in the database after the run, and the ledger of
 * the answers, which the load generator wrote.  An unanswered request may have made an order.  A
 * verdict that depends on an unanswered request is unknown, and unknown is not a pass.
 */
#ifndef LOADTEST_AUDIT_AUDIT_H
#define LOADTEST_AUDIT_AUDIT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <jansson.h>

#include "loadtest/audit/ledger.h"
#include "loadtest/kit/verdict.h"

/* The findings of the audit: X(id, name, meaning). */
#define AUDIT_CHECKS(X)                                                                \
    X(OVERSOLD, "oversold", "more orders than stock was issued")                       \
    X(LOST_UPDATE, "lost-update", "stock left and orders do not add up to the issue")  \
    X(DUPLICATE, "duplicate", "a user has more than one order for a voucher")          \
    X(UNDERSOLD, "undersold", "clients were told \"sold out\" while stock was left")   \
    X(TOLD_NOT_THERE, "phantom-told", "a client was told of an order that does not exist") \
    X(THERE_NOT_TOLD, "phantom-untold",                                                \
      "an order exists that no answer names and no request without an answer explains") \
    X(BROKEN_PROMISE, "broken-promise",                                                \
      "a client was told that its order is queued, and the order never got its row")   \
    X(TOLD_TWICE, "told-twice",                                                        \
      "a request is in the ledger twice, with answers that do not fit together")       \
    X(UNKNOWN_VOUCHER, "unknown-voucher",                                              \
      "an order or an answer is about a voucher that this audit knows nothing of")     \
    X(OUTSIDE_WINDOW, "outside-window",                                                \
      "an order was admitted before its sale began or after its sale had ended")       \
    X(CLOCK_WENT_BACK, "clock-went-back",                                              \
      "the database's clock says that a later event came first")                       \
    X(NOTHING_SOLD, "nothing-sold", "no order was made, so nothing was shown")

enum audit_check {
#define X(id, name, text) AUDIT_##id,
    AUDIT_CHECKS(X)
#undef X
    AUDIT_CHECK_COUNT
};

struct audit_voucher {
    int64_t id, issued, left;
    uint64_t fence; /* the highest fence of a write to the row; 0: none             */
    int64_t issued_us;        /* the instant of its issue, since 1970; 0: not known   */
    int64_t begin_us, end_us; /* the sale's window; both 0: not known                 */
    bool is_window_moved;     /* the voucher's own window is no longer the issued one */
};

struct audit_order {
    int64_t id, user, voucher;
    const char *request, *process;
    int64_t admitted_us; /* the sale window was checked then; 0: the row does not say */
    int64_t created_us;  /* the transaction of the row began then; 0: not known       */
};

struct audit_input {
    const struct audit_voucher *vouchers;
    size_t voucher_count;
    const struct audit_order *orders;
    size_t order_count;
    const struct ledger *ledger;
    bool is_settled; /* no request that was sent can still become an order          */
    int64_t read_us; /* the instant at which the orders were read, by the database's clock,
                      * since 1970; 0: not known                                     */
    int64_t age_us;  /* the time since that instant                                  */
};

enum { AUDIT_EXAMPLES = 10, AUDIT_EXAMPLE_MAX = 240 };

/* A service computes the database's time from a reading that is at most two seconds old.  In two
 * seconds the clocks of two machines may drift apart by this much. */
enum { AUDIT_CLOCK_SLACK_US = 10000 };

struct audit_finding {
    enum verdict valid;
    int64_t count; /* of orders (or units) concerned                                */
    int example_count;
    char examples[AUDIT_EXAMPLES][AUDIT_EXAMPLE_MAX];
};

struct audit_verdict {
    enum verdict valid; /* the worst of the findings */
    struct audit_finding findings[AUDIT_CHECK_COUNT];
    int64_t issued, left, orders, told, queued, unsure;
    int64_t lost; /* acknowledged orders without a row: lost.h names them */
    int64_t read_us, age_us; /* as in the input */
};

void audit_judge(const struct audit_input *input, struct audit_verdict *out);

const char *audit_check_name(enum audit_check check);
const char *audit_check_text(enum audit_check check);

enum { AUDIT_INSTANT_SIZE = 40 };

/* "2026-01-31T12:00:00.123456Z" of an instant since 1970. */
void audit_instant(int64_t us, char out[AUDIT_INSTANT_SIZE]);

/* As in verdict.json; `source` says where the orders were read.  The caller owns it. */
json_t *audit_to_json(const struct audit_verdict *verdict, const char *source);

#endif /* LOADTEST_AUDIT_AUDIT_H */
