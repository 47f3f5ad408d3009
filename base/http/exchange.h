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
 * Threads     A connection has a thread from its first byte to its last, and all that is
 *             declared here is called by that thread.
 */
#ifndef BASE_HTTP_EXCHANGE_H
#define BASE_HTTP_EXCHANGE_H

#include "base/http/gate.h"
#include "base/text/text.h"

struct http_exchange {
    const struct gate_request *head;
    struct gate_verdict gate; /* status 0: the head is let in; else refuse with status */
    int listener;             /* which one it came to */
    int64_t start_ns;         /* when its head had arrived (dlock_clock_ns) */
    bool is_over;             /* its address has more connections than it may, all busy */
    bool is_unreadable;       /* the gate's verdict is all that is known of it */
    struct text *body;        /* for the answer's body: empty, freed by the server */
    struct text *answer;      /* the whole answer goes here: empty, freed by the server */
    int status;               /* of the answer; the program writes it */
    bool closes;              /* the answer says that the connection is closed after it;
                               * the program writes `closes`, which must be true while a
                               * body of the request is unread */
};

/* Answer a request.  An answer that stays empty closes the connection without a word. */
typedef void http_answer_fn(void *arg, struct http_exchange *x);

/* Read the whole body before the request timeout.  NULL: *body has *len bytes and a NUL,
 * and lives until answer() returns; else what went wrong, and the answer must close. */
const char *http_read_body(struct http_exchange *x, const char **body, size_t *len);

/* From now on the connection is not ended to make room, and draining the server waits
 * for the request.  False: the connection was ended while the request came, and nothing may be
 * done for it: leave the answer empty. */
bool http_begin_work(struct http_exchange *x);

/* Is the server being drained?  Ask it after http_begin_work(). */
bool http_is_draining(const struct http_exchange *x);

/* Must the connection be closed after the answer, since the client wants that, others wait
 * for its thread, or the server stops? */
bool http_must_close(const struct http_exchange *x);

#endif /* BASE_HTTP_EXCHANGE_H */
