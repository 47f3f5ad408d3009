/* SPDX-License-Identifier: MIT */
/* exchange.h -- one request and its answer, between the server and the program.
 *
 *     static void answer(void *arg, struct http_exchange *x)
 *     {
 *         if (x->gate.status == 0 && http_begin_work(x))
 *             ...
 *         x->closes = x->closes || http_must_close(x);
 *         text_add(x->answer, "HTTP/1.1 200 OK\r\n...");
 *     }
 *
 * Threads     A connection has one thread from its first byte to its last, and only
 *             this thread calls these functions.
 */
#ifndef BASE_HTTP_EXCHANGE_H
#define BASE_HTTP_EXCHANGE_H

#include "base/http/gate.h"
#include "base/text/text.h"

struct http_exchange {
    const struct gate_request *head;
    struct gate_verdict gate; /* status 0: the head is let in; else refuse with status */
    int listener;             /* the listener that received the request */
    int64_t start_ns;         /* when its head had arrived (dlock_clock_ns) */
    bool is_over;             /* the client's address has too many connections, all
                               * busy */
    bool is_unreadable;       /* the head could not be read; only `gate` is set */
    struct text *body;        /* for the answer's body: empty, freed by the server */
    struct text *answer;      /* the whole answer goes here: empty, freed by the server */
    int status;               /* of the answer; the program writes it */
    bool closes;              /* the connection is closed after the answer, and the
                               * answer says so; the program writes `closes`, which must
                               * be true if a part of the request's body is unread */
};

/* The type of the program's function that answers a request.  If the answer stays
 * empty, the connection is closed without an answer. */
typedef void http_answer_fn(void *arg, struct http_exchange *x);

/* Read the whole body within the request timeout.  NULL: done; *body has *len bytes and
 * a NUL, and lives until answer() returns.  Otherwise a text that says what went wrong,
 * and the answer must close the connection. */
const char *http_read_body(struct http_exchange *x, const char **body, size_t *len);

/* Mark the request as in progress.  From now on the connection is not ended to make
 * room, and a draining server waits for the request.  False: the connection was ended
 * while the request arrived; the caller does nothing for the request, and leaves the
 * answer empty. */
bool http_begin_work(struct http_exchange *x);

/* Is the server draining, that is, ending after the requests in progress?  Call it
 * after http_begin_work(). */
bool http_is_draining(const struct http_exchange *x);

/* Must the connection be closed after the answer?  True if the client asked for that,
 * other clients wait for the thread, or the server stops. */
bool http_must_close(const struct http_exchange *x);

#endif /* BASE_HTTP_EXCHANGE_H */
