/* SPDX-License-Identifier: MIT */
/* keys.c -- keys in a list, since a simulated server has few keys. */
#include "tests/simulation/keys.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

/* ---- bytes and replies ---- */

void buffer_add(struct buffer *buffer, const char *bytes, size_t len)
{
    if (buffer->len + len > buffer->room) {
        buffer->room = (buffer->len + len) * 2 + 256;
        buffer->at = realloc(buffer->at, buffer->room);
        if (buffer->at == NULL)
            abort();
    }
    if (len > 0)
        memcpy(buffer->at + buffer->len, bytes, len);
    buffer->len += len;
}

void buffer_take(struct buffer *buffer, size_t len)
{
    buffer->len -= len;
    if (buffer->len > 0)
        memmove(buffer->at, buffer->at + len, buffer->len);
}

void buffer_free(struct buffer *buffer)
{
    free(buffer->at);
    *buffer = (struct buffer){0};
}

struct bytes bytes_copy(struct bytes from)
{
    struct bytes to = {malloc(from.len + 1), from.len};

    if (to.at == NULL)
        abort();
    if (from.len > 0)
        memcpy(to.at, from.at, from.len);
    to.at[from.len] = '\0';
    return to;
}

bool bytes_equal(struct bytes a, struct bytes b)
{
    return a.len == b.len && (a.len == 0 || memcmp(a.at, b.at, a.len) == 0);
}

bool bytes_is(struct bytes a, const char *text)
{
    return strlen(text) == a.len && strncasecmp(a.at, text, a.len) == 0;
}

static int bytes_compare(struct bytes a, struct bytes b)
{
    size_t least = a.len < b.len ? a.len : b.len;
    int by = least > 0 ? memcmp(a.at, b.at, least) : 0;

    return by != 0 ? by : (a.len > b.len) - (a.len < b.len);
}

bool bytes_number(struct bytes a, int64_t *out)
{
    char text[24];
    char again[24];
    int64_t number;

    if (a.len == 0 || a.len >= sizeof(text))
        return false;
    memcpy(text, a.at, a.len);
    text[a.len] = '\0';
    number = strtoll(text, NULL, 10);
    snprintf(again, sizeof(again), "%" PRId64, number);
    if (strcmp(text, again) != 0)
        return false; /* leading zeros, several signs, out of range, or no number */
    *out = number;
    return true;
}

static void add_line(struct buffer *out, char kind, const char *text)
{
    buffer_add(out, &kind, 1);
    buffer_add(out, text, strlen(text));
    buffer_add(out, "\r\n", 2);
}

static void add_number(struct buffer *out, char kind, int64_t number)
{
    char text[24];

    snprintf(text, sizeof(text), "%" PRId64, number);
    add_line(out, kind, text);
}

void reply_status(struct buffer *out, const char *text)
{
    add_line(out, '+', text);
}

void reply_error(struct buffer *out, const char *text)
{
    add_line(out, '-', text);
}

void reply_integer(struct buffer *out, int64_t number)
{
    add_number(out, ':', number);
}

void reply_bulk(struct buffer *out, struct bytes bytes)
{
    add_number(out, '$', (int64_t)bytes.len);
    buffer_add(out, bytes.at, bytes.len);
    buffer_add(out, "\r\n", 2);
}

void reply_text(struct buffer *out, const char *text)
{
    reply_bulk(out, (struct bytes){(char *)(uintptr_t)text, strlen(text)});
}

void reply_double(struct buffer *out, double number)
{
    char text[64];

    if (isinf(number))
        snprintf(text, sizeof(text), "%s", number > 0 ? "inf" : "-inf");
    else
        snprintf(text, sizeof(text), "%.17g", number);
    reply_text(out, text);
}

void reply_nil(struct buffer *out)
{
    buffer_add(out, "$-1\r\n", 5);
}

void reply_nil_array(struct buffer *out)
{
    buffer_add(out, "*-1\r\n", 5);
}

void reply_array(struct buffer *out, int64_t count)
{
    add_number(out, '*', count);
}

/* ---- keys ---- */

static void free_key(struct key *key)
{
    for (size_t i = 0; i < key->count; i++) {
        free(key->parts[i].name.at);
        free(key->parts[i].value.at);
    }
    free(key->parts);
    free(key->string.at);
    free(key->name.at);
    free(key);
}

enum plant keys_planted;

struct key *keys_find(struct keys *keys, struct bytes name, int64_t now_ms)
{
    for (struct key **at = &keys->first; *at != NULL; at = &(*at)->next) {
        struct key *key = *at;

        if (!bytes_equal(key->name, name))
            continue;
        if (!key->has_end || now_ms <= key->end_ms + (keys_planted == PLANT_LATE_END))
            return key;
        *at = key->next;
        if (keys->ended != NULL)
            keys->ended(keys, key->name);
        free_key(key);
        return NULL;
    }
    return NULL;
}

struct key *keys_add(struct keys *keys, struct bytes name, enum kind kind)
{
    struct key *key = calloc(1, sizeof(*key));

    if (key == NULL)
        abort();
    key->name = bytes_copy(name);
    key->kind = kind;
    key->next = keys->first;
    keys->first = key;
    return key;
}

bool keys_remove(struct keys *keys, struct bytes name)
{
    for (struct key **at = &keys->first; *at != NULL; at = &(*at)->next)
        if (bytes_equal((*at)->name, name)) {
            struct key *key = *at;

            *at = key->next;
            free_key(key);
            return true;
        }
    return false;
}

void keys_clear(struct keys *keys)
{
    while (keys->first != NULL) {
        struct key *key = keys->first;

        keys->first = key->next;
        free_key(key);
    }
}

void keys_copy(struct keys *to, const struct keys *from)
{
    for (const struct key *key = from->first; key != NULL; key = key->next) {
        struct key *copy = keys_add(to, key->name, key->kind);

        copy->has_end = key->has_end;
        copy->end_ms = key->end_ms;
        if (key->string.at != NULL)
            copy->string = bytes_copy(key->string);
        for (size_t i = 0; i < key->count; i++)
            key_insert(copy, i, key->parts[i].name, key->parts[i].value,
                       key->parts[i].score);
    }
}

void key_set_string(struct key *key, struct bytes value)
{
    struct bytes copy = bytes_copy(value); /* `value` may be the old value, which is freed below */

    free(key->string.at);
    key->string = copy;
}

size_t key_find(const struct key *key, struct bytes name)
{
    size_t at = 0;

    while (at < key->count && !bytes_equal(key->parts[at].name, name))
        at++;
    return at;
}

void key_insert(struct key *key, size_t at, struct bytes name, struct bytes value,
                double score)
{
    struct part part = {bytes_copy(name), {0}, score};

    if (value.at != NULL)
        part.value = bytes_copy(value);
    if (key->count == key->room) {
        key->room = key->room == 0 ? 4 : key->room * 2;
        key->parts = realloc(key->parts, key->room * sizeof(*key->parts));
        if (key->parts == NULL)
            abort();
    }
    memmove(key->parts + at + 1, key->parts + at, (key->count - at) * sizeof(*key->parts));
    key->parts[at] = part;
    key->count++;
}

void key_remove(struct key *key, size_t at)
{
    free(key->parts[at].name.at);
    free(key->parts[at].value.at);
    key->count--;
    memmove(key->parts + at, key->parts + at + 1, (key->count - at) * sizeof(*key->parts));
}

size_t key_rank(const struct key *key, struct bytes name, double score)
{
    size_t at = 0;

    while (at < key->count &&
           (key->parts[at].score < score ||
            (key->parts[at].score == score &&
             (keys_planted == PLANT_TIES || bytes_compare(key->parts[at].name, name) < 0))))
        at++;
    return at;
}
