/* SPDX-License-Identifier: MIT */
/* orders.h -- a hundred orders of three vouchers, each under its voucher's lock, in one
 * thread.  The loop is the includer's: it calls orders_begin(), and then orders_go_on() each
 * time that orders_fd() can be read, until that answers false. */
#ifndef EXAMPLES_ORDERS_H
#define EXAMPLES_ORDERS_H

#include <dlock.h>
#include <dlock_async.h>
#include <stdio.h>
#include <stdlib.h>

enum { ORDERS = 100, VOUCHERS = 3 };

static dlock_system *orders_system;
static dlock_async *orders_async;
static int orders_done, orders_failed;
static int orders_inside[VOUCHERS]; /* under the lock of each: never more than one */

static void orders_released(dlock_status st, dlock_lease *lease, void *arg)
{
    (void)lease;
    (void)arg;
    orders_failed += st != DLOCK_OK;
    orders_done++;
}

/* The lock is this order's.  Here it gives it back at once; a real order would begin its work,
 * copy the lease, and release it from the completion of that work. */
static void orders_granted(dlock_status st, dlock_lease *lease, void *arg)
{
    int *inside = arg;

    if (st != DLOCK_OK) {
        fprintf(stderr, "%s: %s\n", dlock_status_id(st), dlock_error());
        orders_failed++;
        orders_done++;
        return;
    }
    orders_failed += ++*inside != 1;
    --*inside;
    if (dlock_async_release(orders_async, lease, orders_released, arg) != DLOCK_OK) {
        orders_failed++;
        orders_done++;
    }
}

/* Ask for all locks at once. */
static void orders_begin(void)
{
    dlock_options opts = dlock_options_default();
    dlock_request request = {.wait_ms = 30000};

    opts.redis_url = getenv("SECKILL_REDIS_URL");
    if (dlock_open(&orders_system, &opts) != DLOCK_OK ||
        dlock_async_open(&orders_async, orders_system, 0) != DLOCK_OK) {
        fprintf(stderr, "%s\n", dlock_error());
        exit(1);
    }
    for (int i = 0; i < ORDERS; i++) {
        char name[32];

        snprintf(name, sizeof(name), "example:voucher:%d", i % VOUCHERS);
        if (dlock_async_acquire(orders_async, name, &request, NULL, orders_granted,
                                &orders_inside[i % VOUCHERS], NULL) != DLOCK_OK) {
            fprintf(stderr, "%s\n", dlock_error());
            exit(1);
        }
    }
}

static int orders_fd(void)
{
    return dlock_async_fd(orders_async);
}

/* Answers whether there is more to come. */
static int orders_go_on(void)
{
    (void)dlock_poll(orders_async, 0);
    return orders_done < ORDERS;
}

/* The exit status of the program. */
static int orders_end(void)
{
    (void)dlock_async_close(orders_async);
    dlock_close(orders_system);
    printf("%d orders under %d locks, %d failed\n", orders_done, (int)VOUCHERS, orders_failed);
    return orders_failed == 0 ? 0 : 1;
}

#endif /* EXAMPLES_ORDERS_H */
