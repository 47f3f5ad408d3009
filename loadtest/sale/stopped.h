/* SPDX-License-Identifier: MIT */
/* stopped.h -- which layer of the service stopped how many orders: the lock, a guard, ... */
#ifndef LOADTEST_SALE_STOPPED_H
#define LOADTEST_SALE_STOPPED_H

#include <stdbool.h>

#include "loadtest/sale/service.h"

/* Ask each process for its metric seckill_orders_stopped_total, and write the sums into
 * stopped.json of `dir`: {"processes": 2, "asked": 2, "layers": {"lock": 12, ...}}.  `asked`
 * counts the processes that answered; a layer that stopped nothing is 0.  Set `refused` and
 * `fenced` of each service; both are 0 if it did not answer.
 * False (and errno): the file cannot be written. */
bool stopped_write(const char *dir, struct service *services, int count);

#endif /* LOADTEST_SALE_STOPPED_H */
