/* SPDX-License-Identifier: MIT */
/* stream.h -- queued orders: a stream in Redis, which outlives this process.
 *
 *     stream_admit()    a script takes a unit of the stock in Redis, notes the buyer
 *                       and appends the order to the stream, all of it or nothing
 *     stream_take()     a writer gets orders of the stream to write
 *     stream_settle()   a writer removes the orders whose outcome it knows
 *
 * An order that was taken and not settled stays in the stream, and another writer gets
 * it after --stream-claim.  So two writers may write the same order; because of its
 * request's id only one row results.
 *
 * Whoever can write to Redis can remove entries of the stream and add some.  A writer sells
 * only an entry with the MAC of a service (stream_mac.h), and moves any other aside.
 *
 * Every key begins with --stream-name.  Redis keeps a few words for each order that was
 * let in, until a day after its voucher's sale.  The stream never has more orders than
 * --stream-queued.
 *
 * Threads     Any thread may admit and ask.  Each writer takes and settles in its own
 *             thread.
 */
#ifndef APP_STREAM_H
#define APP_STREAM_H

#include "app/config.h"
#include "app/ident.h"
#include "app/outcome.h"
#include "base/http/token.h"
#include "base/text/trace.h"
#include "db/sale_batch.h"
#include "lock/dlock.h"

enum {
    STREAM_BATCH_MAX = SALE_BATCH_MAX,
    STREAM_ID_MAX = 43,   /* two numbers of 64 bits and a hyphen, and the NUL */
    STREAM_STATE_MAX = 32,
};

struct stream; /* opaque */

/* An order that asks to be let in. */
struct stream_order {
    int64_t voucher_id, user_id;
    const char *request_id;
    const char *trace_id; /* NULL: the request has no trace */
    int64_t admitted_us, sale_end_us; /* of the database's clock, since 1970 */
};

enum stream_answer {
    STREAM_QUEUED,     /* it waits in the stream */
    STREAM_AGAIN,      /* an earlier request of the same id is queued, or written */
    STREAM_CONFLICT,   /* the user's request of this id was for another voucher */
    STREAM_BOUGHT,     /* the user already has an order of this voucher */
    STREAM_FULL,       /* the limit --stream-queued is reached */
    STREAM_SOLD_OUT,   /* the stock in Redis is 0 */
    STREAM_NO_STOCK,   /* Redis does not have the stock of the voucher */
    STREAM_UNANSWERED, /* no answer of Redis: the order may have been let in */
    STREAM_FAILED,     /* the order was not let in; the log says why */
};

struct stream_admission {
    int64_t order_id; /* of QUEUED and AGAIN: the number that the order has, or will have */
    int64_t admitted; /* of SOLD_OUT and NO_STOCK: all orders of the voucher that were
                       * let in ... */
    int64_t queued;   /* ... and those of them that are still queued */
    /* An earlier request for this order was not answered and may still be executed, so
     * the order may be let in even after a refusal. */
    bool may_be_let_in;
};

/* An order that a writer was given. */
struct stream_entry {
    char id[STREAM_ID_MAX];
    bool is_genuine; /* a service made it; false: only the id is valid */
    bool is_claimed; /* a writer has kept it for --stream-claim */
    int64_t voucher_id, user_id, order_id, admitted_us;
    char request_id[REQUEST_ID_MAX + 1];
    char trace_id[TRACE_ID_LEN + 1]; /* of the request that was let in; "": none */
};

/* The end of an entry: its order is written, refused, or moved aside. */
struct stream_end {
    const struct stream_entry *entry;
    const char *verdict; /* "written", "poison", "forged", or the name of the refusal's
                          * outcome */
    const char *reason;  /* of poison and forged: a sentence without a line's end; else "" */
};

/* The state of a request in Redis. */
struct stream_request {
    char state[STREAM_STATE_MAX]; /* "queued"; then the verdict of its writer; "lost": somebody
                                   * has deleted the queued order; "none": Redis does not have
                                   * the request */
    bool is_queued;
    int64_t order_id; /* 0: Redis does not have the request, or its row is written */
    int64_t voucher_id;
};

/* Connect to the Redis of the settings.  OK: *out is the stream, which the caller
 * closes with stream_close().  Otherwise dlock_error() has the words of Redis. */
dlock_status stream_open(struct stream **out, const struct config *config,
                         const struct token_keys *tokens);
/* Close the connections, and free the object.  No thread may be inside a call.  NULL is
 * fine. */
void stream_close(struct stream *stream);

/* Note the database in which the orders of the stream become rows, if none is noted.
 * OK: *is_ours says if that is `database`, a text; otherwise as stream_open(). */
dlock_status stream_claim(struct stream *stream, const char *database, bool *is_ours);

/* Does Redis accept writes of the stream now?  Writes a key that ends after some seconds.  OK, or
 * as stream_open(). */
dlock_status stream_check(struct stream *stream);

/* Do the settings of Redis keep the stream over a restart?  True also if Redis does not
 * show its settings.  Only for a warning at the start. */
bool stream_is_kept(struct stream *stream);

/* Let an order in.  If the answer is lost, the request is sent once more, which does no
 * harm, because Redis knows the request's id.  If the second request is refused, the
 * first may still be on its way: out->may_be_let_in is then true, and the refusal is
 * not final. */
enum stream_answer stream_admit(struct stream *stream, const struct stream_order *order,
                                struct stream_admission *out);

/* Write the stock of a voucher, read from PostgreSQL, into Redis, after stream_admit()
 * answered SOLD_OUT or NO_STOCK with *seen.  If an order is queued or was let in since,
 * Redis changes nothing.  False: Redis did not confirm. */
bool stream_tell_stock(struct stream *stream, const struct stream_order *order,
                       const struct stream_admission *seen, int64_t stock);

/* Ask Redis for the state of a request.  False: Redis gave no answer. */
bool stream_find_request(struct stream *stream, int64_t user_id, const char *request_id,
                         struct stream_request *out);

/* Take up to `most` orders, 1 to STREAM_BATCH_MAX.  An order that this writer has taken
 * and not settled for --stream-claim is among them again.  *missing: so many orders
 * have left the stream without a writer since the last call; below 0: so many entries came
 * without a service.  False: no valid answer of Redis.  Redis may have assigned orders to
 * this writer all the same; a writer claims them later. */
bool stream_take(struct stream *stream, struct stream_entry *entries, size_t most,
                 size_t *count, int64_t *missing);

/* Settle orders.  False: Redis did not confirm; calling again is safe. */
bool stream_settle(struct stream *stream, const struct stream_end *ends, size_t count);

/* This process writes no more orders: remove its writer from Redis if the writer has no
 * unsettled order.  Returns the number of orders that are left in the stream; -1: Redis
 * did not answer. */
int64_t stream_leave(struct stream *stream);

/* The number of orders in the stream; the last known number if Redis does not answer. */
int64_t stream_length(struct stream *stream);

#endif /* APP_STREAM_H */
