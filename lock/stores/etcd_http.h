/* SPDX-License-Identifier: MIT */
/* etcd_http.h -- requests to the JSON gateway of an etcd, each with a deadline.
 *
 * A request is a POST of JSON to one member.  If a member cannot be reached or does not
 * answer, this request and the later ones go to the next member.  So a request may be
 * executed twice, and must do no harm then.  With several members, each has a half of
 * the timeout.  While the members choose a leader, a request waits for the choice, up
 * to 7 s.  A member of another cluster than that of the first answer counts as
 * unreachable.
 *
 * Threads     Any, but for open and close. */
#ifndef DLOCK_ETCD_HTTP_H
#define DLOCK_ETCD_HTTP_H

#include <jansson.h>

#include "lock/dlock_variant.h"
#include "lock/stores/etcd_wire.h"

struct etcd_http; /* opaque */

/* The refusals that callers tell apart, with gRPC's numbers. */
enum etcd_error {
    ETCD_DONE = 0,
    ETCD_NOT_FOUND = 5,
    ETCD_DENIED = 7,
    ETCD_PRECONDITION = 9, /* a lease with this number exists already */
};

struct etcd_request {
    const char *path;   /* "/v3/kv/txn" */
    const char *body;   /* JSON         */
    int64_t give_up_ns; /* no I/O after this instant; INT64_MAX: only the timeout limits */
    bool may_be_denied; /* if the user lacks a right, the answer is OK with
                         * ETCD_DENIED */
    bool is_stream;     /* the answer has several objects: those after the first become
                         * its array "next" */
};

struct etcd_reply {
    json_t *json;          /* the caller frees it with json_decref(); NULL: there is
                            * none */
    enum etcd_error error; /* ETCD_DONE: etcd did not refuse */
    bool was_repeated;     /* a copy of the request was executed before this one, or may
                            * still arrive; after PROTOCOL also the request itself */
};

/* Read opts->etcd_url.  Sends nothing.  OK; INVALID: the URL is missing or malformed;
 * NOMEM. */
dlock_status etcd_http_open(struct etcd_http **out, const dlock_options *opts);

/* Close the connections and free the memory.  No request is under way.  NULL is
 * fine. */
void etcd_http_close(struct etcd_http *http);

/* Send a request and wait for the answer, until give_up_ns or for the timeout of the
 * options, whichever is first.
 *   OK        *out is the answer: JSON, and ETCD_DONE or one of the refusals above
 *   IO        the request was certainly not executed: no member could be reached, or etcd
 *             is overloaded or out of space
 *   UNKNOWN   no answer came, or etcd answered that it does not know the outcome: the
 *             request may have been executed
 *   PROTOCOL  etcd refused, or the server is no etcd
 *   NOMEM     the request was not sent
 * After a failure out->json is NULL, and dlock_error() names the member and its words. */
dlock_status etcd_http_ask(struct etcd_http *http, const struct etcd_request *request,
                           struct etcd_reply *out);

/* The instant at which a request that is made now has ended at the latest. */
int64_t etcd_http_until_ns(const struct etcd_http *http);

/* For streams: prepare the new handle `easy` to send the POST to the member that
 * requests go to now.  `body` has to live as long as `easy`; the caller frees *lists
 * after `easy`.  Returns the index of the member; -1: no memory. */
int etcd_http_prepare(struct etcd_http *http, CURL *easy, const char *path,
                      const char *body, struct etcd_lists *lists);

/* Does the answer come from the cluster of the first answer?  True also for an answer without a
 * header, such as a refusal. */
bool etcd_http_is_ours(struct etcd_http *http, const json_t *answer);

/* The member with this index failed: ask the next one from now on, unless another
 * member is asked already. */
void etcd_http_leave(struct etcd_http *http, int member);

#endif /* DLOCK_ETCD_HTTP_H */
