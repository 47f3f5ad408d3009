/* SPDX-License-Identifier: MIT */
/* queue.c -- the requests of one connection.
 *
 * The ring and the buffers grow as needed, and never shrink. */
#include "base/redis/queue.h"

#include <stdlib.h>
#include <string.h>

#include "base/redis/traffic.h"

enum { RING_FIRST = 64, RING_MAX = 1 << 16, BYTES_FIRST = 4096 };

void redis_queue_free(struct redis_queue *queue)
{
    redis_traffic_add(-(int64_t)redis_queue_count(queue));
    free(queue->ring);
    free(queue->out.at);
    free(queue->leaving.at);
}

static struct redis_request *slot(const struct redis_queue *queue, uint64_t number)
{
    return &queue->ring[number & (queue->ring_size - 1)];
}

size_t redis_queue_count(const struct redis_queue *queue)
{
    return (size_t)(queue->next - queue->first);
}

int64_t redis_queue_oldest_ns(const struct redis_queue *queue)
{
    return queue->first == queue->next ? INT64_MAX
                                       : slot(queue, queue->first)->asked_ns;
}

static bool make_room_in_ring(struct redis_queue *queue)
{
    size_t size = queue->ring_size == 0 ? RING_FIRST : queue->ring_size * 2;
    struct redis_request *ring;

    if (redis_queue_count(queue) < queue->ring_size)
        return true;
    if (size > RING_MAX)
        return false;
    ring = malloc(size * sizeof(*ring));
    if (ring == NULL)
        return false;
    for (uint64_t i = queue->first; i < queue->next; i++)
        ring[i & (size - 1)] = *slot(queue, i);
    free(queue->ring);
    queue->ring = ring;
    queue->ring_size = size;
    return true;
}

static bool make_room_for(struct redis_bytes *bytes, size_t len)
{
    size_t size = bytes->size == 0 ? BYTES_FIRST : bytes->size;
    char *longer;

    while (size - bytes->len < len)
        size *= 2;
    if (size == bytes->size)
        return true;
    longer = realloc(bytes->at, size);
    if (longer == NULL)
        return false;
    bytes->at = longer;
    bytes->size = size;
    return true;
}

static uint64_t out_at(const struct redis_queue *queue)
{
    return queue->leaving_at + queue->leaving.len;
}

bool redis_queue_add(struct redis_queue *queue, struct redis_request_leg *trip,
                     const char *bytes, size_t len, int64_t now_ns)
{
    struct redis_request request = {
        .trip = trip,
        .begins_at = out_at(queue) + queue->out.len,
        .asked_ns = now_ns,
    };

    if (!make_room_in_ring(queue) || !make_room_for(&queue->out, len))
        return false;
    memcpy(queue->out.at + queue->out.len, bytes, len);
    queue->out.len += len;
    *slot(queue, queue->next++) = request;
    redis_traffic_add(1);
    return true;
}

struct redis_request redis_queue_pop(struct redis_queue *queue)
{
    redis_traffic_add(-1);
    return *slot(queue, queue->first++);
}

bool redis_queue_has_to_send(const struct redis_queue *queue)
{
    return queue->left < queue->leaving.len || queue->out.len > 0;
}

const char *redis_queue_to_send(struct redis_queue *queue, size_t *len)
{
    if (queue->left == queue->leaving.len) {
        struct redis_bytes sent = queue->leaving;

        queue->leaving_at += sent.len;
        queue->leaving = queue->out;
        queue->left = 0;
        queue->out = sent;
        queue->out.len = 0;
    }
    *len = queue->leaving.len - queue->left;
    return queue->leaving.at + queue->left;
}

void redis_queue_sent(struct redis_queue *queue, size_t len)
{
    queue->left += len;
}

uint64_t redis_queue_safe_from(const struct redis_queue *queue, bool is_sending)
{
    return is_sending ? out_at(queue) : queue->leaving_at + queue->left;
}

bool redis_queue_first_has_left(const struct redis_queue *queue, bool is_sending)
{
    return slot(queue, queue->first)->begins_at <
           redis_queue_safe_from(queue, is_sending);
}

/* Remove the request `number` with its bytes, all of which are in `out`. */
static void take_out(struct redis_queue *queue, uint64_t number)
{
    uint64_t begins_at = slot(queue, number)->begins_at;
    uint64_t ends_at = number + 1 < queue->next ? slot(queue, number + 1)->begins_at
                                                : out_at(queue) + queue->out.len;
    size_t len = (size_t)(ends_at - begins_at);
    char *at = queue->out.at + (begins_at - out_at(queue));

    memmove(at, at + len, queue->out.len - (size_t)(ends_at - out_at(queue)));
    queue->out.len -= len;
    for (uint64_t i = number; i + 1 < queue->next; i++) {
        *slot(queue, i) = *slot(queue, i + 1);
        slot(queue, i)->begins_at -= len;
    }
    queue->next--;
    redis_traffic_add(-1);
}

bool redis_queue_forsake(struct redis_queue *queue, const struct redis_request_leg *trip)
{
    for (uint64_t i = queue->next; i > queue->first; i--) {
        struct redis_request *request = slot(queue, i - 1);

        if (request->trip != trip)
            continue;
        if (request->begins_at >= out_at(queue)) {
            take_out(queue, i - 1);
            return true;
        }
        request->trip = NULL;
        return false;
    }
    return false;
}

void redis_queue_reset(struct redis_queue *queue, bool is_sending)
{
    if (is_sending)
        memset(&queue->leaving, 0, sizeof(queue->leaving));
    queue->leaving.len = 0;
    queue->left = 0;
    queue->out.len = 0;
    queue->first = queue->next = 0;
}

bool redis_queue_is_answering(const struct redis_queue *queue)
{
    return queue->left == queue->leaving.len && redis_queue_count(queue) > 0 &&
           redis_queue_first_has_left(queue, false);
}
