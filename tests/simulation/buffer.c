/* SPDX-License-Identifier: MIT */
/* buffer.c -- bytes that grow, and replies. */
#include "tests/simulation/buffer.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

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

int bytes_compare(struct bytes a, struct bytes b)
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
