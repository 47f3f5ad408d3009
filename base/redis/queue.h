/* SPDX-License-Identifier: MIT */
/* queue.h -- the requests of one connection: the bytes that are still to be sent, and
 * the callers that wait for the replies, in order.
 *
 * Bytes pass two buffers: `out`, where requests are appended, and `leaving`, which is
 * being sent as a whole.  A position counts the bytes since the connection began.
 *
 * Threads     Under the mutex of the group, except the bytes of `leaving`, which belong
 *             to the sending thread while it sends. */
#ifndef DLOCK_REDIS_QUEUE_H
#define DLOCK_REDIS_QUEUE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct redis_request_leg;

struct redis_request {
    struct redis_request_leg *trip; /* the caller's; NULL: the reply is dropped */
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
    size_t left;                /* bytes of `leaving` that were sent */
    uint64_t leaving_at;        /* position of the first byte of `leaving` */
};

void redis_queue_free(struct redis_queue *queue);

/* The number of requests without a reply, and the instant since which the oldest waits, or
 * INT64_MAX. */
size_t redis_queue_count(const struct redis_queue *queue);
int64_t redis_queue_oldest_ns(const struct redis_queue *queue);

/* Append a request.  False: no memory, or too many requests are unanswered. */
bool redis_queue_add(struct redis_queue *queue, struct redis_request_leg *trip,
                     const char *bytes, size_t len, int64_t now_ns);

/* Take the oldest request out of the queue: the next reply belongs to it.  The queue
 * must not be empty. */
struct redis_request redis_queue_pop(struct redis_queue *queue);

/* The bytes to send next; *len is their number, 0: none. */
const char *redis_queue_to_send(struct redis_queue *queue, size_t *len);
bool redis_queue_has_to_send(const struct redis_queue *queue);

/* Has every request of which a part was sent been sent whole, and is an answer still to
 * come? */
bool redis_queue_is_answering(const struct redis_queue *queue);

/* Note that the sender has sent `len` of those bytes. */
void redis_queue_sent(struct redis_queue *queue, size_t len);

/* The position after the last byte that may have been sent: a request that begins there
 * or later was certainly not sent.  `is_sending`: a thread is sending now. */
uint64_t redis_queue_safe_from(const struct redis_queue *queue, bool is_sending);

/* May a part of the oldest request have been sent?  The queue must not be empty. */
bool redis_queue_first_has_left(const struct redis_queue *queue, bool is_sending);

/* The caller of `trip` gives its request up.  True: the request was removed, and will
 * not be sent.  False: it may have been sent, and its reply will be dropped. */
bool redis_queue_forsake(struct redis_queue *queue, const struct redis_request_leg *trip);

/* Make the queue empty for a new connection.  All requests have been popped.
 * `is_sending`: the bytes of `leaving` now belong to the sending thread, which frees
 * them. */
void redis_queue_reset(struct redis_queue *queue, bool is_sending);

#endif /* DLOCK_REDIS_QUEUE_H */
