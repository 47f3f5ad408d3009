/* SPDX-License-Identifier: MIT */
/* front.h -- HAProxy before the processes of a run, as docker/haproxy.cfg sets it up for the shop
 * on containers.
 *
 * Clients then have one address, and the front chooses a process for each request.
 */
#ifndef LOADTEST_SALE_FRONT_H
#define LOADTEST_SALE_FRONT_H

#include "loadtest/sale/service.h"

/* Start HAProxy before `count` processes, and wait until a request comes through, for at most
 * 15 s.  On success front->orders_url is its address and front->child is HAProxy; it has no
 * address for operators.  `dir` gets front.cfg and front.log.  Anything but EXIT_VALID: `why`
 * (WHY_MAX bytes, or NULL for stderr) says why, and HAProxy does not run. */
enum exit_code front_start(struct service *front, const struct service *services, int count,
                           const char *dir, char *why);

/* End HAProxy at once: a client that waits for an answer gets none.  Nothing happens if HAProxy
 * does not run. */
void front_stop(struct service *front);

#endif /* LOADTEST_SALE_FRONT_H */
