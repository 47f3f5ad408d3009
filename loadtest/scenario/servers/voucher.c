/* SPDX-License-Identifier: MIT */
/* voucher.c -- the resource of a scenario: one voucher in PostgreSQL, sold by db/sale.c
 * as the service does. */
#include "loadtest/scenario/servers/voucher.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "loadtest/probe/redis_connection.h"

static bool connect_client(struct voucher_client *shop)
{
    struct db_options options = db_options_default(shop->part->sale_url);

    if (shop->db != NULL)
        return true;
    options.application_name = shop->part->name;
    options.commits_lazily = shop->part->commits_lazily;
    shop->terms = (struct sale_terms){.stock_guard = shop->part->guard,
                                      .duplicate_guard = DUPLICATE_GUARD_NONE,
                                      .lock_variant = shop->part->variant,
                                      .process = shop->part->name};
    shop->db = db_new(&options);
    return shop->db != NULL;
}

static void keep_error(const struct voucher_client *shop, char *error, size_t size)
{
    snprintf(error, size, "%s", shop->db != NULL ? db_error(shop->db) : "no memory");
}

bool voucher_client_read(struct voucher_client *shop, int64_t *stock, char *error, size_t size)
{
    if (!connect_client(shop)) {
        keep_error(shop, error, size);
        return false;
    }
    if (shop->has_read)
        sale_cancel(shop->db);
    shop->sale = (struct sale){.terms = &shop->terms,
                               .user_id = shop->user,
                               .voucher_id = shop->part->voucher,
                               .request_id = shop->request};
    shop->has_read = sale_begin(shop->db, &shop->sale) ||
                     shop->sale.answer != SALE_FAILED;
    *stock = shop->sale.stock;
    if (shop->has_read)
        return true;
    keep_error(shop, error, size);
    sale_cancel(shop->db);
    return false;
}

bool voucher_client_glance(struct voucher_client *shop, int64_t *stock, char *error, size_t size)
{
    bool ok = voucher_client_read(shop, stock, error, size);

    if (ok)
        sale_cancel(shop->db);
    shop->has_read = false;
    return ok;
}

/* A sale_watch. */
static bool reach_point(enum sale_point point, struct db_conn *db, void *arg)
{
    const struct voucher_client *shop = arg;

    (void)db;
    switch (point) {
    case SALE_AFTER_READ:
        DLOCK_FAULT(AFTER_READ, shop->part->lock);
        break;
    case SALE_BEFORE_COMMIT:
        DLOCK_FAULT(BEFORE_COMMIT, shop->part->lock);
        break;
    case SALE_AFTER_COMMIT:
        DLOCK_FAULT(AFTER_COMMIT, shop->part->lock);
        break;
    }
    return true;
}

enum sale_answer voucher_client_buy(struct voucher_client *shop, uint64_t fence, bool again,
                                    char *error, size_t size)
{
    int64_t stock;

    if (!shop->has_read && !voucher_client_read(shop, &stock, error, size))
        return SALE_FAILED;
    shop->has_read = false;
    if (shop->sale.answer == SALE_SOLD_OUT)
        return SALE_SOLD_OUT;
    shop->requests += !again;
    snprintf(shop->request, sizeof shop->request, "%" PRId64 "-%" PRId64 "-%d",
             shop->part->voucher, shop->user, shop->requests);
    shop->sale.fence = (int64_t)fence;
    switch (sale_finish(shop->db, &shop->sale, reach_point, shop)) {
    case SALE_FAILED:
        keep_error(shop, error, size);
        sale_cancel(shop->db);
        break;
    case SALE_UNSURE:
        keep_error(shop, error, size);
        break;
    default:
        break;
    }
    return shop->sale.answer;
}

/* Take a unit of the stock in Redis.  The first client puts the stock there, as the
 * services of the courses do, and each client counts it down. */
enum sale_answer voucher_client_reserve(const struct voucher_client *shop, char *error, size_t size)
{
    const struct actor_part *part = shop->part;
    long long voucher = part->voucher;
    struct redis_side *side =
        redis_side_open(part->lab, lab_server(part->lab, LAB_REDIS, 0), REDIS_SIDE_MS);
    enum sale_answer sale = SALE_FAILED;

    if (redis_side_ask(side, "SET scenario:stock:%lld %lld EX 600 NX", voucher,
                       (long long)part->stock) <= REDIS_SAID_NOTHING &&
        redis_side_ask(side, "DECR scenario:stock:%lld", voucher) == REDIS_SAID)
        sale = redis_side_number(side) >= 0 ? SALE_SOLD : SALE_SOLD_OUT;
    else
        snprintf(error, size, "%s", redis_side_text(side));
    redis_side_close(side);
    return sale;
}

void voucher_client_leave(struct voucher_client *shop)
{
    db_free(shop->db);
}
