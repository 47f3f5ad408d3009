/* SPDX-License-Identifier: MIT */
/* request.h -- a request that was let in, and its answer, independent of civetweb. */
#ifndef APP_REQUEST_H
#define APP_REQUEST_H

#include "base/http/gate.h"
#include "app/ident.h"
#include "app/service.h"
#include "base/text/trace.h"

/* The two faces of the service. */
enum face {
    FACE_COURSE, /* {"success":..., "data":...}, refusals are mostly 200 */
    FACE_API,    /* status codes and application/problem+json */
};

struct request {
    struct service *service;
    struct worker *worker; /* while the handler runs, if the route needs a worker */
    const struct gate_request *head;
    struct gate_verdict gate;
    enum face face;              /* of refusals before the request has a route */
    char id[REQUEST_ID_MAX + 1]; /* Idempotency-Key, or a new UUID */
    bool is_named_by_client;     /* the id is the Idempotency-Key */
    bool is_traced;              /* the request has a valid traceparent */
    struct trace trace;          /* if so: its trace, and the span of the service's work */
    struct log_field fields[LOG_FIELDS]; /* of the lines of the log about the request */
    int64_t user_id;             /* 0: the request has no user */
    int64_t number;              /* the number in the path, where the route has one */
    const char *word;            /* or the word */
    const char *body;
    size_t body_len;
};

struct answer {
    struct text *body;
    enum outcome outcome;
    int status;
    const char *type;
    const char *allow;     /* NULL: no such header */
    const char *refused;   /* why the request's token is not accepted; NULL: it has
                            * none, or it is accepted */
    char location[96];     /* "": no such header */
    char next[128];        /* the path and query of the next page; "": this is the last */
    bool is_replay;        /* accepted, but by an earlier request of the same id */
    bool closes;           /* the connection is not used again */
};

/* The id of the request's trace; NULL: none.  Valid as long as the request. */
static inline const char *request_trace_id(const struct request *rq)
{
    return rq->is_traced ? rq->trace.trace_id : NULL;
}

/* The value of a header; NULL: the request has no such header. */
const char *request_header(const struct request *rq, const char *name);

/* Find `key` in the query and decode its value.  False: the key is missing, or its
 * value is malformed or does not fit; `out` is then "". */
bool request_query(const struct request *rq, const char *key, char *out, size_t size);

/* Is `key` in the query, whatever its value? */
bool request_has_query(const struct request *rq, const char *key);

/* Are all keys of the query in the array `keys`, which ends with NULL? True without a
 * query. */
bool request_query_is_of(const struct request *rq, const char *const *keys);

/* Answer with an outcome, without data.  `detail` is a sentence, or NULL; the sentence of
 * DATABASE_BUSY is then that of the worker. */
void answer_outcome(const struct request *rq, struct answer *an, enum face face,
                    enum outcome outcome, const char *detail);

/* The same with another status than the outcome's own. */
void answer_status(const struct request *rq, struct answer *an, enum face face,
                   enum outcome outcome, int status, const char *detail);

/* Begin an answer of JSON with this status; its text goes to an->body. */
void answer_json(struct answer *an, int status);

/* Write the whole answer to `out`: the head, and the body unless a HEAD asked. */
void answer_write(const struct request *rq, struct answer *an, bool closes,
                  struct text *out);

/* The face of a path of the listener for orders, for requests that are refused before
 * they have a route. */
enum face face_of(const char *path);

#endif /* APP_REQUEST_H */
