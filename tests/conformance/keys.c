/* SPDX-License-Identifier: MIT */
/* keys.c -- reads and changes the etcd of a variant directly, without the library. */
#include "tests/conformance/keys.h"

#include <curl/curl.h>
#include <inttypes.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/conformance/rig.h"

enum { BODY_SIZE = 1024, TEXT_SIZE = 512 };

struct said {
    char *bytes;
    size_t len;
};

static size_t hear(char *bytes, size_t size, size_t count, void *arg)
{
    struct said *said = arg;

    said->bytes = realloc(said->bytes, said->len + size * count + 1);
    assert_non_null(said->bytes);
    memcpy(said->bytes + said->len, bytes, size * count);
    said->len += size * count;
    said->bytes[said->len] = '\0';
    return size * count;
}

/* Send a request and return the answer. The caller frees the text. */
static char *ask_text(const char *path, const char *body)
{
    struct said said = {calloc(1, 1), 0};
    CURL *easy = curl_easy_init();
    char url[TEXT_SIZE];
    long status = 0;

    assert_non_null(easy);
    snprintf(url, sizeof(url), "%s%s", getenv("SECKILL_ETCD_URL"), path);
    curl_easy_setopt(easy, CURLOPT_URL, url);
    curl_easy_setopt(easy, CURLOPT_NOPROXY, "*");
    curl_easy_setopt(easy, CURLOPT_POSTFIELDS, body);
    curl_easy_setopt(easy, CURLOPT_WRITEFUNCTION, hear);
    curl_easy_setopt(easy, CURLOPT_WRITEDATA, &said);
    assert_int_equal(CURLE_OK, curl_easy_perform(easy));
    curl_easy_getinfo(easy, CURLINFO_RESPONSE_CODE, &status);
    curl_easy_cleanup(easy);
    if (status != 200)
        print_error("%s %s: %s\n", path, body, said.bytes);
    assert_int_equal(200, status);
    return said.bytes;
}

static json_t *ask(const char *path, const char *body)
{
    char *text = ask_text(path, body);
    json_t *json = json_loads(text, 0, NULL);

    free(text);
    assert_non_null(json);
    return json;
}

static void tell(const char *path, const char *body)
{
    json_decref(ask(path, body));
}

/* Encode as Base64. The test has code of its own, so that it does not share a mistake with the
 * library. */
static const char *encode(const char *text, char out[TEXT_SIZE])
{
    static const char DIGITS[] =
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    size_t bit_count = 8 * strlen(text), n = 0;

    for (size_t bit = 0; bit < bit_count; bit += 6, n++) {
        unsigned value = 0;

        for (size_t i = bit; i < bit + 6; i++)
            value = value << 1 |
                    (i < bit_count ? (unsigned)text[i / 8] >> (7 - i % 8) & 1 : 0);
        out[n] = DIGITS[value];
    }
    while (n % 4 != 0)
        out[n++] = '=';
    out[n] = '\0';
    return out;
}

static int64_t number(const json_t *json, const char *field)
{
    const char *text = json_string_value(json_object_get(json, field));

    return text != NULL ? strtoll(text, NULL, 10) : 0;
}

/* The keys that begin with "NAME/", in `order` of their create revisions. */
static json_t *range(const char *name, const char *order)
{
    char prefix[TEXT_SIZE], from[TEXT_SIZE], to[TEXT_SIZE], body[3 * TEXT_SIZE];

    snprintf(prefix, sizeof(prefix), "%s/", name);
    encode(prefix, from);
    prefix[strlen(prefix) - 1]++;
    snprintf(body, sizeof(body),
             "{\"key\":\"%s\",\"range_end\":\"%s\",\"sort_target\":\"CREATE\","
             "\"sort_order\":\"%s\"}",
             from, encode(prefix, to), order);
    return ask("/v3/kv/range", body);
}

int keys_count(const char *name)
{
    json_t *json = range(name, "ASCEND");
    int count = (int)json_array_size(json_object_get(json, "kvs"));

    json_decref(json);
    return count;
}

bool keys_have_a_revision_each(const char *name)
{
    json_t *json = range(name, "ASCEND");
    const json_t *keys = json_object_get(json, "kvs");
    int64_t last = 0;
    bool has_each = true;

    for (size_t i = 0; i < json_array_size(keys); i++) {
        int64_t created = number(json_array_get(keys, i), "create_revision");

        has_each = has_each && created > last;
        last = created;
    }
    json_decref(json);
    return has_each;
}

static uint64_t first_lease(const char *name, const char *order)
{
    json_t *json = range(name, order);
    uint64_t lease = (uint64_t)number(json_array_get(json_object_get(json, "kvs"), 0), "lease");

    json_decref(json);
    return lease;
}

uint64_t keys_oldest_lease(const char *name)
{
    return first_lease(name, "ASCEND");
}

uint64_t keys_youngest_lease(const char *name)
{
    return first_lease(name, "DESCEND");
}

void keys_put(const char *key)
{
    char text[TEXT_SIZE], body[BODY_SIZE];

    snprintf(body, sizeof(body), "{\"key\":\"%s\"}", encode(key, text));
    tell("/v3/kv/put", body);
}

void keys_put_leased(const char *key, uint64_t lease, int seconds)
{
    char text[TEXT_SIZE], body[BODY_SIZE];

    snprintf(body, sizeof(body), "{\"ID\":\"%" PRIu64 "\",\"TTL\":\"%d\"}", lease, seconds);
    tell("/v3/lease/grant", body);
    snprintf(body, sizeof(body), "{\"key\":\"%s\",\"lease\":\"%" PRIu64 "\"}",
             encode(key, text), lease);
    tell("/v3/kv/put", body);
}

void keys_delete(const char *key)
{
    char text[TEXT_SIZE], body[BODY_SIZE];

    snprintf(body, sizeof(body), "{\"key\":\"%s\"}", encode(key, text));
    tell("/v3/kv/deleterange", body);
}

void keys_revoke(uint64_t lease)
{
    char body[BODY_SIZE];

    snprintf(body, sizeof(body), "{\"ID\":\"%" PRIu64 "\"}", lease);
    tell("/v3/lease/revoke", body);
}

void keys_compact(void)
{
    json_t *json = ask("/v3/kv/range", "{\"key\":\"AA==\"}");
    char body[BODY_SIZE];

    snprintf(body, sizeof(body), "{\"revision\":\"%" PRId64 "\"}",
             number(json_object_get(json, "header"), "revision"));
    json_decref(json);
    tell("/v3/kv/compaction", body);
}
