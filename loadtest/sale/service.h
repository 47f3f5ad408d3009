/* SPDX-License-Identifier: MIT */
/* service.h -- seckilld processes that the laboratory runs, and the faults that it injects into
 * them.
 *
 * The laboratory uses only HTTP and signals, and no internals of the service.
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
    pid_t pid;     /* of the process, also after it has ended                      */
    char name[16]; /* --process: the name in its rows of orders                    */
    char orders_url[SERVICE_URL_MAX];
    char admin_url[SERVICE_URL_MAX];
    char admin_token[ADMIN_TOKEN_LEN + 1]; /* for requests to admin_url            */
    char log[FILES_PATH_MAX];
    int ready_fd; /* its stdout                                                     */
    bool died;    /* it had ended before service_stop() or front_stop() stopped it  */
    int status;   /* after that: its status as of waitpid(); -1: not known          */
    int64_t refused; /* orders that its lock, or a guard behind it, refused             */
    int64_t fenced;  /* those of them that came too late, refused by the fence        */
};

/* Start the processes and wait until each one takes orders, for at most 45 s, which is
 * longer than a process waits for its stores.  Anything but EXIT_VALID: plan->why or
 * stderr says why, and none is left.  EXIT_USAGE: a process refused its settings. */
enum exit_code service_start(struct service *services, const struct service_plan *plan);

/* Stop the processes: SIGTERM, and SIGKILL for a process that does not end.  Afterwards `died` and
 * `status` say how each ended.  False: a process did not end by itself with status 0. */
bool service_stop(struct service *services, int count);

/* The port of orders_url. */
int service_port(const struct service *service);

/* Arm `point` ("after-read") with `action` ("hold") for the lock `key`.  False: said on
 * stderr why. */
bool service_arm(const struct service *service, const char *point, const char *action,
                 const char *key);

/* Let a thread that is held at the point continue, and disarm the point.  No thread need be
 * held. */
bool service_release(const struct service *service, const char *point);

/* Is a thread held at the point?  False: the process did not answer, and *held is false. */
bool service_is_holding(const struct service *service, const char *point, bool *held);

/* The state of a lock in its store. */
struct service_lock {
    bool is_locked;
    char owner[128]; /* "" where it is not known                                    */
    int64_t left_ms; /* of the lease; -1: it ends with a session, or is not known   */
    int64_t hold_count, waiter_count; /* -1: not known                              */
    uint64_t fence;  /* 0: there are none                                           */
    char system[40]; /* the uuid of the process that was asked, with which its owners begin */
    int64_t asked_ns, answered_ns; /* the store told this between them                 */
};

/* Ask this process for the state of the lock in its store, and wait for the answer for
 * `timeout_ms` at most.  False: there is no answer. */
bool service_look_lock_within(const struct service *service, const char *key,
                              int64_t timeout_ms, struct service_lock *out);

/* ---- HAProxy before the processes of a run, as docker/haproxy.cfg sets it up for the shop on
 * containers: clients have one address, and it chooses a process for each request ---- */

/* Start HAProxy before `count` processes, and wait until a request comes through, for at most
 * 15 s.  On success front->orders_url is its address and front->child is HAProxy; it has no
 * address for operators.  `dir` gets front.cfg and front.log.  Anything but EXIT_VALID: `why`
 * (WHY_MAX bytes, or NULL for stderr) says why, and HAProxy does not run. */
enum exit_code front_start(struct service *front, const struct service *services, int count,
                           const char *dir, char *why);

/* End HAProxy at once: a client that waits for an answer gets none.  Nothing happens if HAProxy
 * does not run. */
void front_stop(struct service *front);

#endif /* LOADTEST_SALE_SERVICE_H */
