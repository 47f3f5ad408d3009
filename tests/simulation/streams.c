/* SPDX-License-Identifier: MIT */
/* streams.c -- entries, groups, consumers, pending entries: arrays in order, and lists. */
#include "tests/simulation/streams.h"

#include <stdlib.h>
#include <string.h>

static void *make(size_t size)
{
    void *memory = calloc(1, size);

    if (memory == NULL)
        abort();
    return memory;
}

/* Make room for one more element of `size` bytes. */
static void *grow(void *array, size_t count, size_t *room, size_t size)
{
    if (count < *room)
        return array;
    *room = *room == 0 ? 4 : *room * 2;
    array = realloc(array, *room * size);
    if (array == NULL)
        abort();
    return array;
}

/* ---- entries ---- */

int stream_id_compare(struct stream_id a, struct stream_id b)
{
    if (a.ms != b.ms)
        return a.ms < b.ms ? -1 : 1;
    return a.seq < b.seq ? -1 : a.seq > b.seq;
}

struct stream_id stream_value_next(const struct model_stream *stream, int64_t now_ms)
{
    struct stream_id next = {(uint64_t)now_ms, 0};

    if (next.ms > stream->last.ms)
        return next;
    return (struct stream_id){stream->last.ms, stream->last.seq + 1};
}

struct model_stream *stream_value_new(void)
{
    return make(sizeof(struct model_stream));
}

void stream_value_add(struct model_stream *stream, struct stream_id id,
                      const struct bytes *words, size_t count)
{
    struct stream_part part = {id, make(count * sizeof(*words)), count};

    for (size_t i = 0; i < count; i++)
        part.words[i] = bytes_copy(words[i]);
    stream->parts = grow(stream->parts, stream->count, &stream->room, sizeof(part));
    stream->parts[stream->count++] = part;
    stream->last = id;
}

size_t stream_value_find(const struct model_stream *stream, struct stream_id id)
{
    size_t at = 0;

    while (at < stream->count && stream_id_compare(stream->parts[at].id, id) < 0)
        at++;
    return at;
}

bool stream_value_has(const struct model_stream *stream, struct stream_id id)
{
    size_t at = stream_value_find(stream, id);

    return at < stream->count && stream_id_compare(stream->parts[at].id, id) == 0;
}

static void free_part(struct stream_part *part)
{
    for (size_t i = 0; i < part->count; i++)
        free(part->words[i].at);
    free(part->words);
}

void stream_value_remove(struct model_stream *stream, size_t at)
{
    free_part(&stream->parts[at]);
    stream->count--;
    memmove(stream->parts + at, stream->parts + at + 1,
            (stream->count - at) * sizeof(*stream->parts));
}

/* ---- groups ---- */

struct stream_group *stream_group_find(const struct model_stream *stream, struct bytes name)
{
    struct stream_group *group = stream->groups;

    while (group != NULL && !bytes_equal(group->name, name))
        group = group->next;
    return group;
}

struct stream_group *stream_group_add(struct model_stream *stream, struct bytes name,
                                      struct stream_id last)
{
    struct stream_group *group = make(sizeof(*group));

    group->name = bytes_copy(name);
    group->last = last;
    group->next = stream->groups;
    stream->groups = group;
    return group;
}

/* ---- consumers ---- */

struct stream_consumer *stream_consumer_find(const struct stream_group *group,
                                             struct bytes name)
{
    struct stream_consumer *consumer = group->consumers;

    while (consumer != NULL && !bytes_equal(consumer->name, name))
        consumer = consumer->next;
    return consumer;
}

struct stream_consumer *stream_consumer_add(struct stream_group *group, struct bytes name,
                                            int64_t now_ms)
{
    struct stream_consumer *consumer = make(sizeof(*consumer));
    struct stream_consumer **at = &group->consumers;

    consumer->name = bytes_copy(name);
    consumer->seen_ms = now_ms;
    while (*at != NULL && bytes_compare((*at)->name, name) < 0)
        at = &(*at)->next;
    consumer->next = *at;
    *at = consumer;
    return consumer;
}

int64_t stream_consumer_pending(const struct stream_group *group,
                                const struct stream_consumer *consumer)
{
    int64_t count = 0;

    for (size_t i = 0; i < group->pending_count; i++)
        count += group->pending[i].consumer == consumer;
    return count;
}

static void free_consumer(struct stream_consumer *consumer)
{
    free(consumer->name.at);
    free(consumer);
}

int64_t stream_consumer_remove(struct stream_group *group, struct stream_consumer *consumer)
{
    int64_t count = stream_consumer_pending(group, consumer);
    struct stream_consumer **at = &group->consumers;

    for (size_t i = group->pending_count; i > 0; i--)
        if (group->pending[i - 1].consumer == consumer)
            stream_pending_remove(group, i - 1);
    while (*at != consumer)
        at = &(*at)->next;
    *at = consumer->next;
    free_consumer(consumer);
    return count;
}

/* ---- pending entries ---- */

size_t stream_pending_find(const struct stream_group *group, struct stream_id id)
{
    size_t at = 0;

    while (at < group->pending_count && stream_id_compare(group->pending[at].id, id) < 0)
        at++;
    return at;
}

bool stream_pending_has(const struct stream_group *group, struct stream_id id)
{
    size_t at = stream_pending_find(group, id);

    return at < group->pending_count && stream_id_compare(group->pending[at].id, id) == 0;
}

void stream_pending_add(struct stream_group *group, struct stream_pending pending)
{
    size_t at = stream_pending_find(group, pending.id);

    group->pending = grow(group->pending, group->pending_count, &group->pending_room,
                          sizeof(pending));
    memmove(group->pending + at + 1, group->pending + at,
            (group->pending_count - at) * sizeof(pending));
    group->pending[at] = pending;
    group->pending_count++;
}

void stream_pending_remove(struct stream_group *group, size_t at)
{
    group->pending_count--;
    memmove(group->pending + at, group->pending + at + 1,
            (group->pending_count - at) * sizeof(*group->pending));
}

/* ---- the whole stream ---- */

static void free_group(struct stream_group *group)
{
    while (group->consumers != NULL) {
        struct stream_consumer *consumer = group->consumers;

        group->consumers = consumer->next;
        free_consumer(consumer);
    }
    free(group->pending);
    free(group->name.at);
    free(group);
}

void stream_value_free(struct model_stream *stream)
{
    if (stream == NULL)
        return;
    for (size_t i = 0; i < stream->count; i++)
        free_part(&stream->parts[i]);
    free(stream->parts);
    while (stream->groups != NULL) {
        struct stream_group *group = stream->groups;

        stream->groups = group->next;
        free_group(group);
    }
    free(stream);
}

static void copy_group(struct model_stream *to, const struct stream_group *from)
{
    struct stream_group *group = stream_group_add(to, from->name, from->last);

    for (const struct stream_consumer *at = from->consumers; at != NULL; at = at->next)
        (void)stream_consumer_add(group, at->name, at->seen_ms);
    for (size_t i = 0; i < from->pending_count; i++) {
        struct stream_pending pending = from->pending[i];

        pending.consumer = stream_consumer_find(group, pending.consumer->name);
        stream_pending_add(group, pending);
    }
}

struct model_stream *stream_value_copy(const struct model_stream *from)
{
    struct model_stream *to = stream_value_new();

    for (size_t i = 0; i < from->count; i++)
        stream_value_add(to, from->parts[i].id, from->parts[i].words, from->parts[i].count);
    to->last = from->last;
    for (const struct stream_group *group = from->groups; group != NULL; group = group->next)
        copy_group(to, group);
    return to;
}
