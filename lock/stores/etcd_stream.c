/* SPDX-License-Identifier: MIT */
/* etcd_stream.c -- one watch of etcd: an HTTP answer that does not end, with a line of
 * JSON for each message.
 *
 * When etcd cancels a watch, the answer stays open, so the stream closes it. */
#include "lock/stores/etcd_stream.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lock/stores/etcd_text.h"

enum { BODY_SIZE = 1024, NEWS_MAX = 16 << 20 };

struct etcd_stream {
    struct etcd_http *http;
    CURLM *multi;
    CURL *easy;
    struct etcd_lists lists;
    int member;
    struct etcd_news news;
    char name[DLOCK_NAME_MAX + 1];
    char body[BODY_SIZE];
    char *rest; /* the beginning of an incomplete line */
    size_t rest_len;
};

/* The deletions in one line. */
struct told {
    struct etcd_end *ends;
    size_t count;
    uint64_t revision; /* of the last event; 0: none */
};

/* Read an event, and note it if it is the deletion of a key of this lock.  False:
 * `event` is no event of a watch.  The revision in an answer's header may be ahead of
 * the events that were sent, so only an event's revision shows how far the watch has
 * come. */
static bool read_event(const struct etcd_stream *stream, const json_t *event, struct told *told)
{
    const json_t *type = json_object_get(event, "type"); /* PUT, the 0, is left out */
    const json_t *kv = json_object_get(event, "kv");
    const json_t *key = json_object_get(kv, "key");
    int64_t revision, created;
    uint64_t lease;

    /* If etcd has compacted the deleted key, it leaves the create revision out. */
    if (!json_is_string(key) || !etcd_number(kv, "mod_revision", 1, &revision) ||
        revision < 1 || (uint64_t)revision < told->revision ||
        !etcd_number(json_object_get(event, "prev_kv"), "create_revision", 1, &created))
        return false;
    if (json_is_string(type) && strcmp(json_string_value(type), "DELETE") == 0 &&
        etcd_key_read(json_string_value(key), stream->name, &lease))
        told->ends[told->count++] = (struct etcd_end){lease, (uint64_t)created, (uint64_t)revision};
    told->revision = (uint64_t)revision;
    return true;
}

/* Report all events of a line at once, because one revision may have deleted several
 * keys, and a waiter must see all of them.  False: the line has no events of a
 * watch. */
static bool read_events(const struct etcd_stream *stream, const json_t *events)
{
    size_t count = json_array_size(events);
    struct told told = {.ends = NULL};
    bool is_read = events == NULL || json_is_array(events);

    if (count == 0)
        return is_read;
    told.ends = calloc(count, sizeof(*told.ends));
    is_read = told.ends != NULL;
    for (size_t i = 0; is_read && i < count; i++)
        is_read = read_event(stream, json_array_get(events, i), &told);
    if (is_read)
        stream->news.told(stream->news.arg, told.ends, told.count, told.revision);
    free(told.ends);
    return is_read;
}

/* Handle one line.  False: the watch has ended. */
static bool read_line(const struct etcd_stream *stream, const char *line, size_t len)
{
    json_t *json = etcd_json_read(line, len, NULL);
    const json_t *result = json_object_get(json, "result");
    int64_t forgotten = 0;
    bool goes_on = json_is_object(result) && etcd_http_is_ours(stream->http, json) &&
                   etcd_number(result, "compact_revision", 1, &forgotten);

    if (goes_on && forgotten > 0)
        stream->news.forgotten(stream->news.arg, (uint64_t)forgotten);
    goes_on = goes_on && !json_is_true(json_object_get(result, "canceled")) &&
              read_events(stream, json_object_get(result, "events"));
    json_decref(json);
    return goes_on;
}

/* libcurl's write function: any other answer than the number of bytes ends the
 * transfer. */
static size_t on_bytes(char *bytes, size_t size, size_t count, void *arg)
{
    struct etcd_stream *stream = arg;
    size_t len = size * count, used = 0;
    char *text, *end;

    if (len > NEWS_MAX - stream->rest_len)
        return 0;
    text = realloc(stream->rest, stream->rest_len + len + 1);
    if (text == NULL)
        return 0;
    stream->rest = text;
    memcpy(text + stream->rest_len, bytes, len);
    stream->rest_len += len;
    while ((end = memchr(text + used, '\n', stream->rest_len - used)) != NULL) {
        if (!read_line(stream, text + used, (size_t)(end - text) - used))
            return 0;
        used = (size_t)(end - text) + 1;
    }
    stream->rest_len -= used;
    memmove(text, text + used, stream->rest_len);
    return len;
}

/* Set the options of the transfer. libcurl needs pointers of exactly its own types. */
static bool set_up(struct etcd_stream *stream)
{
    stream->easy = curl_easy_init();
    if (stream->easy == NULL)
        return false;
    stream->member = etcd_http_prepare(stream->http, stream->easy, "/v3/watch", stream->body,
                                       &stream->lists);
    return stream->member >= 0 &&
           curl_easy_setopt(stream->easy, CURLOPT_WRITEFUNCTION, on_bytes) == CURLE_OK &&
           curl_easy_setopt(stream->easy, CURLOPT_WRITEDATA, stream) == CURLE_OK &&
           curl_easy_setopt(stream->easy, CURLOPT_PRIVATE, stream) == CURLE_OK &&
           curl_easy_setopt(stream->easy, CURLOPT_TCP_KEEPALIVE, 1L) == CURLE_OK;
}

struct etcd_stream *etcd_stream_begin(struct etcd_http *http, CURLM *multi, const char *name,
                                      uint64_t revision, const struct etcd_news *news)
{
    struct etcd_range range = etcd_range_of(name);
    struct etcd_stream *stream = calloc(1, sizeof(*stream));

    if (stream == NULL)
        return NULL;
    stream->http = http;
    stream->news = *news;
    snprintf(stream->name, sizeof(stream->name), "%s", name);
    snprintf(stream->body, sizeof(stream->body),
             "{\"create_request\":{\"key\":\"%s\",\"range_end\":\"%s\","
             "\"start_revision\":\"%" PRIu64 "\",\"filters\":[\"NOPUT\"],\"prev_kv\":true}}",
             range.from, range.to, revision + 1);
    if (set_up(stream) && curl_multi_add_handle(multi, stream->easy) == CURLM_OK) {
        stream->multi = multi;
        return stream;
    }
    etcd_stream_end(stream);
    return NULL;
}

struct etcd_stream *etcd_stream_of(CURL *easy)
{
    char *stream = NULL;

    (void)curl_easy_getinfo(easy, CURLINFO_PRIVATE, &stream);
    return (struct etcd_stream *)(void *)stream;
}

void etcd_stream_broke(struct etcd_stream *stream)
{
    etcd_http_leave(stream->http, stream->member);
}

void etcd_stream_end(struct etcd_stream *stream)
{
    if (stream == NULL)
        return;
    if (stream->multi != NULL)
        (void)curl_multi_remove_handle(stream->multi, stream->easy);
    curl_easy_cleanup(stream->easy);
    etcd_lists_free(&stream->lists);
    free(stream->rest);
    free(stream);
}
