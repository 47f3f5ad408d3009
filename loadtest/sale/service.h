/* SPDX-License-Identifier: MIT */
/* service.h -- seckilld processes that the laboratory runs, and the faults it gives
 * them.
 *
 * Everything goes over HTTP or signals: the laboratory knows nothing of the service's
 * inside.
 */
#ifndef LOADTEST_SALE_SERVICE_H
#define LOADTEST_SALE_SERVICE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/http/admin_token.h"
#include "base/text/exit_codes.h"
#include "loadtest/kit/why.h"
#include "loadtest/lab/lab.h"
#include "loadtest/sale/service_plan.h"

enum { SERVICE_MAX = 8, SERVICE_URL_MAX = 64 };

struct service {
    struct child child;
    char name[16]; /* --process: what stands in its order rows                     */
    char orders_url[SERVICE_URL_MAX];
    char admin_url[SERVICE_URL_MAX];
    char admin_token[ADMIN_TOKEN_LEN + 1]; /* what it wants to hear there          */
    char log[FILES_PATH_MAX];
    int ready_fd; /* its stdout                                                     */
};

/* Start the processes and wait until each one takes orders, for at most 45 s, which is
 * longer than a process waits for its stores.  Anything but EXIT_VALID: plan->why or
 * stderr says why, and none is left.  EXIT_USAGE: a process refused its settings. */
enum exit_code service_start(struct service *services, const struct service_plan *plan);

/* Stop them: SIGTERM, and SIGKILL for who does not end.  False: one did not end by
 * itself with status 0. */
bool service_stop(struct service *services, int count);

/* The port of orders_url. */
int service_port(const struct service *service);

/* Arm `point` ("after-read") with `action` ("hold") for the lock `key`.  False: said on
 * stderr why. */
bool service_arm(const struct service *service, const char *point, const char *action,
                 const char *key);

/* Let go who is held there, and disarm the point.  Nobody need be held there. */
bool service_release(const struct service *service, const char *point);

/* Is somebody held at the point?  False in *held as well if nothing can be learned. */
bool service_is_holding(const struct service *service, const char *point, bool *held);

/* A lock, as its store sees it. */
struct service_lock {
    bool is_locked;
    char owner[128]; /* "" where it is not known                                    */
    int64_t left_ms; /* of the lease; -1: it ends with a session, or is not known   */
    int64_t hold_count, waiter_count; /* -1: not known                              */
    uint64_t fence;  /* 0: there are none                                           */
    char system[40]; /* the uuid that the owners of the process begin with that was asked */
};

/* Ask the store, by way of this process, and wait for the answer for no longer than
 * `timeout_ms`.  False: nothing can be learned. */
bool service_look_lock_within(const struct service *service, const char *key,
                              int64_t timeout_ms, struct service_lock *out);

#endif /* LOADTEST_SALE_SERVICE_H */
