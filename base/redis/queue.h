/* SPDX-License-Identifier: MIT */
/* queue.h -- the requests of one connection: their bytes on the way out, and who
 * waits for their replies, in order.
 *
 * Bytes pass two buffers: `out`, where requests are appended, and `leaving`, which is
 * being sent as a whole.  A position counts the bytes since the connection began.
 *
 * Threads     Under the mutex of the group, but for the bytes of `leaving`, which are the
 *             sender's while it sends. */
#ifndef DLOCK_REDIS_QUEUE_H
#define DLOCK_REDIS_QUEUE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct redis_request_leg;

struct redis_request {
    struct redis_request_leg *trip; /* whose it is; NULL: nobody waits for the reply */
    uint64_t begins_at;      /* position of its first byte */
    int64_t asked_ns;
};

struct redis_bytes {
    char *at;
    size_t len, size;
};

struct redis_queue {
    struct redis_request *ring; /* room for ring_size, a power of two */
    size_t ring_size;
    uint64_t first, next;       /* the requests [first, next) have no reply yet */
    struct redis_bytes out;
    struct redis_bytes leaving;
    size_t left;                /* of `leaving`: sent */
    uint64_t leaving_at;        /* position of the first byte of `leaving` */
};

void redis_queue_free(struct redis_queue *queue);

/* The number of requests without a reply, and the instant since which the oldest waits, or
 * INT64_MAX. */
size_t redis_queue_count(const struct redis_queue *queue);
int64_t redis_queue_oldest_ns(const struct redis_queue *queue);

/* Append a request.  False: no memory, or too many wait already. */
bool redis_queue_add(struct redis_queue *queue, struct redis_request_leg *trip,
                     const char *bytes, size_t len, int64_t now_ns);

/* The next reply belongs to this request; it is over.  There must be one. */
struct redis_request redis_queue_pop(struct redis_queue *queue);

/* The bytes to send next, as many as there are: *len of them, 0 for none. */
const char *redis_queue_to_send(struct redis_queue *queue, size_t *len);
bool redis_queue_has_to_send(const struct redis_queue *queue);

/* Has all that began to leave left, and are answers to it still to come? */
bool redis_queue_is_answering(const struct redis_queue *queue);

/* The sender reports that so many of those bytes were sent. */
void redis_queue_sent(struct redis_queue *queue, size_t len);

/* Where what may have been sent ends: every request that begins there or later was
 * certainly not.  `is_sending`: somebody is at it right now. */
uint64_t redis_queue_safe_from(const struct redis_queue *queue, bool is_sending);

/* May the oldest request have been sent, at least in part?  There must be one. */
bool redis_queue_first_has_left(const struct redis_queue *queue, bool is_sending);

/* The reply to `trip` is not waited for any more.  True: it is taken out of the queue
 * and will not be sent.  False: it has left, or may have, and its reply will be dropped. */
bool redis_queue_forsake(struct redis_queue *queue, const struct redis_request_leg *trip);

/* Begin anew with another connection, all requests popped.  `is_sending`: the bytes of
 * `leaving` now belong to the sender, who has to free them. */
void redis_queue_reset(struct redis_queue *queue, bool is_sending);

#endif /* DLOCK_REDIS_QUEUE_H */
