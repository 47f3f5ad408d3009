/* SPDX-License-Identifier: MIT */
/* stream.h -- orders that were let in and have no row yet: a stream in Redis, which outlives
 * this process.
 *
 *     stream_admit()    a script takes a unit of the stock that Redis knows, notes the buyer
 *                       and appends the order to the stream: all of it or nothing
 *     stream_take()     a writer is given orders of the stream to write
 *     stream_settle()   and takes out those of which it knows what became
 *
 * An order that was taken and not settled stays in the stream, and is given to another writer
 * once it has been one writer's for --stream-claim.  So an order may be written twice; its
 * request's id makes one row of that.
 *
 * Every key begins with --stream-name.  Redis keeps a few words for each order that was let
 * in until a day after its voucher's sale, and never more orders in the stream than
 * --stream-queued.
 *
 * Threads     Any may admit and ask; each writer takes and settles on its own thread.
 */
#ifndef APP_STREAM_H
#define APP_STREAM_H

#include "app/config.h"
#include "app/ident.h"
#include "app/outcome.h"
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
    const char *trace_id; /* NULL: its request brought none */
    int64_t admitted_us, sale_end_us; /* of the database's clock, since 1970 */
};

enum stream_answer {
    STREAM_QUEUED,     /* it waits in the stream */
    STREAM_AGAIN,      /* an earlier request of the same id was queued, and perhaps written */
    STREAM_CONFLICT,   /* the user's request of this id was for another voucher */
    STREAM_BOUGHT,     /* the user has an order of the voucher */
    STREAM_FULL,       /* as many orders wait as may */
    STREAM_SOLD_OUT,   /* Redis knows of no unit that is left */
    STREAM_NO_STOCK,   /* nobody has told Redis the stock */
    STREAM_UNANSWERED, /* it may have been let in: nobody could be asked */
    STREAM_FAILED,     /* it was not let in; the log says why */
};

struct stream_admission {
    int64_t order_id; /* of QUEUED and AGAIN: the number that the order has, or will have */
    int64_t admitted; /* of SOLD_OUT and NO_STOCK: orders of the voucher ever let in ... */
    int64_t queued;   /* ... and those that wait */
    /* An earlier question for this order was not answered, and may be executed still: after
     * a refusal too, the order may be let in. */
    bool may_be_let_in;
};

/* An order that a writer was given. */
struct stream_entry {
    char id[STREAM_ID_MAX];
    bool is_readable; /* false: only the id is there */
    bool is_claimed;  /* another writer had it before */
    int64_t voucher_id, user_id, order_id, admitted_us;
    char request_id[REQUEST_ID_MAX + 1];
    char trace_id[TRACE_ID_LEN + 1]; /* of the request that was let in; "": none */
};

/* The end of an entry: its order is written, refused, or moved aside. */
struct stream_end {
    const struct stream_entry *entry;
    const char *verdict; /* "written", "poison", or the name of PostgreSQL's refusal */
    const char *reason;  /* of poison: a sentence without a line's end; else "" */
};

/* A request, as Redis knows it. */
struct stream_request {
    char state[STREAM_STATE_MAX]; /* "queued", or the outcome that its writer came to */
    bool is_queued;
    int64_t order_id; /* 0: nothing is known of the request, or it has its row */
    int64_t voucher_id;
};

/* Reach the Redis of the settings.  OK: *out is it; else dlock_error() says what Redis said. */
dlock_status stream_open(struct stream **out, const struct config *config);
/* No thread may be inside.  NULL is fine. */
void stream_close(struct stream *stream);

/* Does a Redis that is restarted have the stream still, as far as its settings say?  True too
 * if Redis does not tell its settings: the answer serves a warning at the start alone. */
bool stream_is_kept(struct stream *stream);

/* Let an order in.  An answer that was lost is asked for again, which changes nothing: the
 * request's id is known then.  If the second question is refused, the first one may still be
 * on its way: then out->may_be_let_in is true, and the refusal is no end. */
enum stream_answer stream_admit(struct stream *stream, const struct stream_order *order,
                                struct stream_admission *out);

/* Tell Redis the stock of a voucher that PostgreSQL said after stream_admit() had answered
 * SOLD_OUT or NO_STOCK with *seen.  Nothing happens if an order waits or was let in since.
 * False: Redis did not do it. */
bool stream_tell_stock(struct stream *stream, const struct stream_order *order,
                       const struct stream_admission *seen, int64_t stock);

/* Ask Redis for the state of a request.  False: Redis gave no answer. */
bool stream_find_request(struct stream *stream, int64_t user_id, const char *request_id,
                         struct stream_request *out);

/* Take up to STREAM_BATCH_MAX orders.  False: Redis gave none; it may have handed out some,
 * which are claimed later. */
bool stream_take(struct stream *stream, struct stream_entry *entries, size_t *count);

/* Settle them.  False: Redis did not say that it is done; asking again is safe. */
bool stream_settle(struct stream *stream, const struct stream_end *ends, size_t count);

/* This process writes no more: forget its writer if it has nothing to settle.  Answers how
 * many orders are left in the stream; -1: Redis did not say. */
int64_t stream_leave(struct stream *stream);

/* The number of orders in the stream; the last known number if Redis does not answer. */
int64_t stream_length(struct stream *stream);

#endif /* APP_STREAM_H */
