/* SPDX-License-Identifier: MIT */
/* voucher.c -- the resource of a story: one voucher in PostgreSQL, sold in the
 * steps of the service, through the same statements and stock guards. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "db/order.h"
#include "loadtest/probe/redis_connection.h"
#include "loadtest/scenario/participants/process_inside.h"

/* A sale between its first statement and its COMMIT. */
static bool is_open(const struct shop *shop)
{
    return shop->db != NULL && db_in_transaction(shop->db);
}

static bool connect_shop(struct shop *shop)
{
    struct db_options options = db_options_default(shop->part->shop_url);

    if (shop->db != NULL)
        return true;
    options.application_name = shop->part->name;
    options.commits_lazily = shop->part->commits_lazily;
    shop->guard = guard_find(shop->part->guard);
    shop->db = db_new(&options);
    return shop->db != NULL && shop->guard != NULL;
}

static void keep_error(const struct shop *shop, char *error, size_t size)
{
    snprintf(error, size, "%s", shop->db != NULL ? db_error(shop->db) : "no memory");
}

bool shop_read(struct shop *shop, int64_t *stock, char *error, size_t size)
{
    if (!connect_shop(shop)) {
        keep_error(shop, error, size);
        return false;
    }
    shop->sale = (struct guard_sale){.voucher_id = shop->part->voucher};
    if (order_begin(shop->db, shop->guard, shop->user, &shop->sale, NULL) != DB_OK) {
        keep_error(shop, error, size);
        order_cancel(shop->db);
        return false;
    }
    *stock = shop->sale.stock;
    return true;
}

bool shop_glance(struct shop *shop, int64_t *stock, char *error, size_t size)
{
    bool ok = shop_read(shop, stock, error, size);

    if (ok)
        order_cancel(shop->db);
    return ok;
}

static enum scenario_sale give_up(struct shop *shop, enum scenario_sale sale,
                                  char *error, size_t size)
{
    if (sale == SALE_FAILED)
        keep_error(shop, error, size);
    order_cancel(shop->db);
    return sale;
}

static enum scenario_sale sale_of(enum guard_answer answer)
{
    switch (answer) {
    case GUARD_TAKEN:
        return SALE_SOLD;
    case GUARD_SOLD_OUT:
        return SALE_SOLD_OUT;
    case GUARD_BUSY:
        return SALE_BUSY;
    case GUARD_STALE:
        return SALE_STALE;
    case GUARD_FAILED:
        break;
    }
    return SALE_FAILED;
}

/* The order's row, and COMMIT. */
static enum scenario_sale write_order(struct shop *shop, uint64_t fence, char *error,
                                      size_t size)
{
    char request[96];
    struct order_row row = {.user_id = shop->user,
                            .voucher_id = shop->part->voucher,
                            .request_id = request,
                            .lock_variant = shop->part->variant,
                            .stock_guard = shop->part->guard,
                            .duplicate_guard = "none",
                            .process = shop->part->name,
                            .fence = (int64_t)fence};
    enum db_status st;
    int64_t id;

    snprintf(request, sizeof request, "%s-%" PRId64 "-%d", shop->part->request,
             shop->user, shop->requests);
    st = order_insert(shop->db, &row, &id);
    if (st != DB_OK)
        return give_up(shop, st == DB_UNIQUE ? SALE_REPEATED : SALE_FAILED, error,
                       size);
    DLOCK_FAULT(BEFORE_COMMIT, shop->part->lock);
    st = order_commit(shop->db);
    if (st == DB_LOST) {
        keep_error(shop, error, size);
        return SALE_UNSURE;
    }
    if (st != DB_OK)
        return give_up(shop, SALE_FAILED, error, size);
    DLOCK_FAULT(AFTER_COMMIT, shop->part->lock);
    return SALE_SOLD;
}

enum scenario_sale shop_buy(struct shop *shop, uint64_t fence, bool again, char *error,
                            size_t size)
{
    enum guard_answer answer;
    int64_t stock;

    if (!is_open(shop) && !shop_read(shop, &stock, error, size))
        return SALE_FAILED;
    DLOCK_FAULT(AFTER_READ, shop->part->lock);
    if (shop->guard->read != NULL && shop->sale.stock < 1)
        return give_up(shop, SALE_SOLD_OUT, error, size);
    shop->requests += !again;
    shop->sale.fence = (int64_t)fence;
    answer = shop->guard->take(shop->db, &shop->sale);
    if (answer != GUARD_TAKEN)
        return give_up(shop, sale_of(answer), error, size);
    return write_order(shop, fence, error, size);
}

/* As such services do: it is put there once, and counted down by whoever comes. */
enum scenario_sale shop_reserve(const struct shop *shop, char *error, size_t size)
{
    const struct player_part *part = shop->part;
    struct lab lab = {.owned = false};
    struct redis_side *side;
    enum scenario_sale sale = SALE_FAILED;

    snprintf(lab.redis_password, sizeof lab.redis_password, "%s", part->counter_password);
    side = redis_side_open(&lab, &part->counter, REDIS_SIDE_MS);
    if (redis_side_ask(side, "SET scenario:stock:%s %lld EX 600 NX", part->request,
                       (long long)part->stock) <= REDIS_SAID_NOTHING &&
        redis_side_ask(side, "DECR scenario:stock:%s", part->request) == REDIS_SAID)
        sale = redis_side_number(side) >= 0 ? SALE_SOLD : SALE_SOLD_OUT;
    else
        snprintf(error, size, "%s", redis_side_text(side));
    redis_side_close(side);
    return sale;
}

void shop_leave(struct shop *shop)
{
    db_free(shop->db);
}
