/* SPDX-License-Identifier: MIT */
/* sale_watch.c -- counts a sale from the database while it goes on. */
#include "loadtest/live/sale_watch.h"

#include <string.h>

#include "base/text/duration.h"

enum { LOOK_MS = 500, FULL_MS = 5000, RETRY_MS = 1000, REST = 20, ERROR_MAX = 512 };

static const char session[] = "SET default_transaction_read_only = on; "
                             "SET statement_timeout = '3s'";

void sale_watch_begin(struct sale_watch *watch, const int64_t *vouchers, int count)
{
    struct sale_watch fresh = {.db = watch->db};

    *watch = fresh;
    watch->voucher_count = count < SALE_WATCH_VOUCHERS_MAX ? count : SALE_WATCH_VOUCHERS_MAX;
    memcpy(watch->vouchers, vouchers, (size_t)watch->voucher_count * sizeof *vouchers);
}

static bool connect(struct sale_watch *watch, const char *url)
{
    char error[ERROR_MAX];

    if (watch->db)
        return true;
    if (!lab_db_open(&watch->db, url, error, sizeof error))
        return false;
    return lab_db_run(watch->db, session);
}

static int64_t above_zero(int64_t n)
{
    return n > 0 ? n : 0;
}

static bool count_voucher(struct sale_watch *watch, int i, bool all, struct sale_seen *sum)
{
    struct tally tally;

    if (!tally_read(watch->db, watch->vouchers[i], all ? TALLY_ALL : TALLY_NEW, &watch->kept[i],
                    &tally))
        return false;
    sum->issued += tally.issued;
    sum->left += tally.left;
    sum->orders += tally.orders;
    sum->doubles += tally.doubles;
    sum->oversold += above_zero(tally.orders - tally.issued);
    sum->lost += above_zero(tally.left + tally.orders - tally.issued);
    return true;
}

static int64_t most(int64_t a, int64_t b)
{
    return a > b ? a : b;
}

static bool count(struct sale_watch *watch, bool all)
{
    struct sale_seen sum = {.is_known = true};

    for (int i = 0; i < watch->voucher_count; i++)
        if (!count_voucher(watch, i, all, &sum))
            return false;
    sum.oversold = most(sum.oversold, watch->seen.oversold);
    sum.doubles = most(sum.doubles, watch->seen.doubles);
    sum.lost = most(sum.lost, watch->seen.lost);
    sum.seen_ns = monotonic_ns();
    watch->seen = sum;
    return true;
}

void sale_watch_look(struct sale_watch *watch, const char *url)
{
    int64_t begin_ns = monotonic_ns(), rest_ns;
    bool all = begin_ns >= watch->next_full_ns;

    if (begin_ns < watch->next_ns)
        return;
    if (!connect(watch, url) || !count(watch, all)) {
        sale_watch_end(watch);
        watch->next_ns = monotonic_ns() + RETRY_MS * INT64_C(1000000);
        watch->next_full_ns = watch->next_ns;
        return;
    }
    rest_ns = (monotonic_ns() - begin_ns) * REST;
    watch->next_ns = monotonic_ns() + most(rest_ns, LOOK_MS * INT64_C(1000000));
    if (all)
        watch->next_full_ns = monotonic_ns() + most(rest_ns, FULL_MS * INT64_C(1000000));
}

void sale_watch_end(struct sale_watch *watch)
{
    lab_db_close(watch->db);
    watch->db = NULL;
}
