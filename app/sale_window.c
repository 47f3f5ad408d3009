/* SPDX-License-Identifier: MIT */
/* sale_window.c -- is a voucher on sale now? */
#include "app/sale_window.h"

#include "db/voucher.h"

enum outcome sale_window_read(void *worker, int64_t voucher_id,
                              struct voucher_window *window)
{
    struct worker *w = worker;
    enum outcome outcome = worker_take_db(w);
    bool found = false;
    enum db_status st;

    if (outcome != OUTCOME_ACCEPTED)
        return outcome;
    st = voucher_find_window(w->db, voucher_id, window, &found);
    outcome = st != DB_OK ? worker_db_failed(w, st)
              : found     ? OUTCOME_ACCEPTED
                          : OUTCOME_UNKNOWN_VOUCHER;
    worker_give_db(w);
    return outcome;
}

enum outcome sale_window_check(struct worker *w, int64_t voucher_id,
                               int64_t *admitted_us, int64_t *end_us)
{
    struct voucher_window window;
    enum outcome outcome = voucher_cache_get(w->service->vouchers, voucher_id,
                                             sale_window_read, w, &window);

    if (outcome == OUTCOME_DATABASE_BUSY && w->busy_why == NULL) /* of another worker's read */
        return worker_is_busy(w, "no connection to the database became free for the request that "
                                 "reads the times of this voucher");
    if (outcome != OUTCOME_ACCEPTED)
        return outcome;
    *admitted_us = voucher_clock_us(&window);
    *end_us = window.end_us;
    switch (voucher_phase_at(&window, *admitted_us)) {
    case VOUCHER_NOT_STARTED:
        return OUTCOME_NOT_STARTED;
    case VOUCHER_ENDED:
        return OUTCOME_ENDED;
    case VOUCHER_ON_SALE:
        break;
    }
    return OUTCOME_ACCEPTED;
}
