/* SPDX-License-Identifier: MIT */
/* etcd_stream.c -- one watch of etcd: an answer that does not end, a line of JSON for each
 * news.
 *
 * After etcd cancelled a watch the answer stays open all the same, so the stream ends it. */
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
    char *rest; /* of a line that has not come whole */
    size_t rest_len;
};

/* A deletion of a key; of another lock's, or of another kind, is no news.  False: it is no
 * event of a watch.  An answer may have been sent before the events of its own revision were, so
 * only an event says how far the watch has come. */
static bool read_event(const struct etcd_stream *stream, const json_t *event)
{
    const json_t *type = json_object_get(event, "type"); /* PUT, the 0, is left out */
    const json_t *kv = json_object_get(event, "kv");
    const json_t *key = json_object_get(kv, "key");
    int64_t revision;
    uint64_t lease;

    if (!json_is_string(key) || !etcd_number(kv, "mod_revision", 1, &revision))
        return false;
    if (json_is_string(type) && strcmp(json_string_value(type), "DELETE") == 0 &&
        etcd_key_read(json_string_value(key), stream->name, &lease))
        stream->news.ended(stream->news.arg, lease, (uint64_t)revision);
    stream->news.seen(stream->news.arg, (uint64_t)revision);
    return true;
}

/* False: the watch is over. */
static bool read_line(const struct etcd_stream *stream, const char *line, size_t len)
{
    json_t *json = json_loadb(line, len, JSON_REJECT_DUPLICATES, NULL);
    const json_t *result = json_object_get(json, "result");
    const json_t *events = json_object_get(result, "events");
    int64_t forgotten = 0;
    bool goes_on = json_is_object(result) &&
                   etcd_number(result, "compact_revision", 1, &forgotten);

    if (goes_on && forgotten > 0)
        stream->news.forgotten(stream->news.arg, (uint64_t)forgotten);
    goes_on = goes_on && !json_is_true(json_object_get(result, "canceled"));
    for (size_t i = 0; goes_on && i < json_array_size(events); i++)
        goes_on = read_event(stream, json_array_get(events, i));
    json_decref(json);
    return goes_on;
}

/* Any other count than that of the bytes ends the transfer. */
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

/* libcurl takes its own kinds of pointers only. */
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
             "\"start_revision\":\"%" PRIu64 "\",\"filters\":[\"NOPUT\"]}}",
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
