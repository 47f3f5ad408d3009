/* SPDX-License-Identifier: MIT */
/* sale_watch.h -- the state of a sale, counted from the database while the sale goes on.
 *
 * A look counts the rows that are new since the last look.  From time to time a look counts all
 * rows, because a transaction that commits late can add a row with a lower number than the
 * counted ones.  The next look comes at the earliest after twenty times the duration of the last
 * one.  So the looks take at most a twentieth of one connection's time, whatever the number of
 * orders.  Nothing is written.
 *
 * Threads     One.
 */
#ifndef LOADTEST_LIVE_SALE_WATCH_H
#define LOADTEST_LIVE_SALE_WATCH_H

#include <stdbool.h>
#include <stdint.h>

#include "db/tally.h"

enum { SALE_WATCH_VOUCHERS_MAX = 32 };

/* The findings so far.  Orders beyond the stock, second orders of a user and lost updates stay
 * found; an absence of findings may end with the next count. */
struct sale_seen {
    bool is_known;
    int64_t issued, left, orders;
    int64_t oversold, doubles, lost;
    int64_t seen_ns; /* when it was counted                                          */
};

struct sale_watch {
    lab_db *db; /* owned; NULL: not connected                                          */
    int64_t vouchers[SALE_WATCH_VOUCHERS_MAX];
    int voucher_count;
    struct tally_kept kept[SALE_WATCH_VOUCHERS_MAX]; /* of the counts before             */
    int64_t next_ns, next_full_ns;
    struct sale_seen seen;
};

/* Begin to watch a sale of these vouchers; a connection stays. */
void sale_watch_begin(struct sale_watch *watch, const int64_t *vouchers, int count);

/* Count if it is time to.  A database that does not answer leaves what was seen before. */
void sale_watch_look(struct sale_watch *watch, const char *url);

/* Close the connection.  A zeroed struct is fine. */
void sale_watch_end(struct sale_watch *watch);

#endif /* LOADTEST_LIVE_SALE_WATCH_H */
