/* SPDX-License-Identifier: MIT */
/* streams.h -- the value of a key of kind STREAM: entries, groups of consumers, and pending
 * entries, which were delivered to a consumer and not acknowledged.
 *
 * Ownership   A stream owns everything in it, and copies the bytes that it is given. */
#ifndef SIMULATION_STREAMS_H
#define SIMULATION_STREAMS_H

#include "tests/simulation/buffer.h"

struct stream_id {
    uint64_t ms, seq;
};

struct stream_part {
    struct stream_id id;
    struct bytes *words; /* fields and values by turns */
    size_t count;
};

struct stream_consumer {
    struct bytes name;
    int64_t seen_ms;
    struct stream_consumer *next; /* in the order of names */
};

/* An entry that was delivered and not acknowledged. */
struct stream_pending {
    struct stream_id id;
    struct stream_consumer *consumer;
    int64_t delivered_ms;
};

struct stream_group {
    struct bytes name;
    struct stream_id last; /* the last delivered id */
    struct stream_consumer *consumers;
    struct stream_pending *pending; /* in the order of ids */
    size_t pending_count, pending_room;
    struct stream_group *next;
};

struct model_stream {
    struct stream_part *parts; /* in the order of ids */
    size_t count, room;
    struct stream_id last; /* the last id that was ever added */
    struct stream_group *groups;
};

struct model_stream *stream_value_new(void);
struct model_stream *stream_value_copy(const struct model_stream *from);
void stream_value_free(struct model_stream *stream); /* NULL is fine */

/* Below 0, 0 or above 0 if a is before, equal to or behind b. */
int stream_id_compare(struct stream_id a, struct stream_id b);

/* The id of an entry that is added at `now_ms`. */
struct stream_id stream_value_next(const struct model_stream *stream, int64_t now_ms);

void stream_value_add(struct model_stream *stream, struct stream_id id,
                      const struct bytes *words, size_t count);
/* The index of the first entry that is not before `id`. */
size_t stream_value_find(const struct model_stream *stream, struct stream_id id);
bool stream_value_has(const struct model_stream *stream, struct stream_id id);
void stream_value_remove(struct model_stream *stream, size_t at);

/* NULL: there is none. */
struct stream_group *stream_group_find(const struct model_stream *stream, struct bytes name);
struct stream_group *stream_group_add(struct model_stream *stream, struct bytes name,
                                      struct stream_id last);

struct stream_consumer *stream_consumer_find(const struct stream_group *group,
                                             struct bytes name);
struct stream_consumer *stream_consumer_add(struct stream_group *group, struct bytes name,
                                            int64_t now_ms); /* the consumer is new */
/* Remove the consumer and its pending entries. Returns the number of these. */
int64_t stream_consumer_remove(struct stream_group *group, struct stream_consumer *consumer);
int64_t stream_consumer_pending(const struct stream_group *group,
                                const struct stream_consumer *consumer);

/* The index of the first pending entry that is not before `id`. */
size_t stream_pending_find(const struct stream_group *group, struct stream_id id);
bool stream_pending_has(const struct stream_group *group, struct stream_id id);
void stream_pending_add(struct stream_group *group, struct stream_pending pending);
void stream_pending_remove(struct stream_group *group, size_t at);

#endif /* SIMULATION_STREAMS_H */
