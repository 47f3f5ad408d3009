/* SPDX-License-Identifier: MIT */
/* etcd_http.h -- requests to an etcd by its JSON gateway, each with a deadline.
 *
 * A request is a POST of JSON to one member.  A member that cannot be reached, or does not
 * answer, is left for the next one, by this request and by those that follow; so every request
 * has to be one that may be executed twice.  A member has a half of the timeout where there are
 * several: while the members choose a leader, a request waits for it, up to 7 s.  A member of
 * another cluster than that of the first answer counts as one that cannot be reached.
 *
 * Threads     Any, but for open and close. */
#ifndef DLOCK_ETCD_HTTP_H
#define DLOCK_ETCD_HTTP_H

#include <jansson.h>

#include "lock/dlock_variant.h"
#include "lock/stores/etcd_wire.h"

struct etcd_http; /* opaque */

/* The refusals that a caller branches on, by gRPC's numbers. */
enum etcd_error {
    ETCD_DONE = 0,
    ETCD_NOT_FOUND = 5,
    ETCD_DENIED = 7,
    ETCD_PRECONDITION = 9, /* a lease to be granted is there already */
};

struct etcd_request {
    const char *path;   /* "/v3/kv/txn" */
    const char *body;   /* JSON         */
    int64_t give_up_ns; /* no I/O after this instant; INT64_MAX: only the timeout limits */
    bool may_be_denied; /* ETCD_DENIED, for want of a right, is an answer */
};

struct etcd_reply {
    json_t *json;          /* the caller's to free; NULL: there is none */
    enum etcd_error error; /* by which etcd refused; ETCD_DONE: it did not */
    bool was_repeated;     /* a copy of the request was executed before this one, or may
                            * still arrive */
};

/* Read opts->etcd_url; asks nobody.  OK; INVALID: the URL is missing or malformed; NOMEM. */
dlock_status etcd_http_open(struct etcd_http **out, const dlock_options *opts);

/* No request is under way.  NULL is fine. */
void etcd_http_close(struct etcd_http *http);

/* Send a request and wait for the answer, until give_up_ns or for the timeout of the
 * options, whichever is first.
 *   OK        *out is the answer: JSON, and ETCD_DONE or one of the refusals above
 *   IO        the request was certainly not executed: no member could be reached, or etcd
 *             is overloaded or out of space
 *   UNKNOWN   no answer, or etcd does not know itself: the request may be executed
 *   PROTOCOL  etcd refused, or what answers is no etcd
 *   NOMEM     the request was not sent
 * After a failure out->json is NULL, and dlock_error() names the member and its words. */
dlock_status etcd_http_ask(struct etcd_http *http, const struct etcd_request *request,
                           struct etcd_reply *out);

/* When a request that is made now ends at the latest. */
int64_t etcd_http_until_ns(const struct etcd_http *http);

/* For streams: prepare `easy`, which is new, to send the POST to the member that requests go
 * to now.  The body has to live as long; the caller frees *lists after `easy`.  Answers the
 * member; -1: no memory. */
int etcd_http_prepare(struct etcd_http *http, CURL *easy, const char *path,
                      const char *body, struct etcd_lists *lists);

/* Is that an answer of the cluster that gave the first one? */
bool etcd_http_is_ours(struct etcd_http *http, const json_t *answer);

/* The member failed, so the next one is to be asked from now on, unless that is so already. */
void etcd_http_leave(struct etcd_http *http, int member);

#endif /* DLOCK_ETCD_HTTP_H */
