/* SPDX-License-Identifier: MIT */
/* text.c -- a text that grows as it is written. */
#include "base/text/text.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/os/utf8.h"

enum { TEXT_FIRST_BYTES = 1024 };

void text_free(struct text *text)
{
    free(text->bytes);
    *text = (struct text){0};
}

void text_clear(struct text *text)
{
    text->len = 0;
    text->broken = false;
    if (text->bytes != NULL)
        text->bytes[0] = '\0';
}

void text_shrink(struct text *text, size_t kept_bytes)
{
    if (text->capacity > kept_bytes)
        text_free(text);
    else
        text_clear(text);
}

void text_cut(struct text *text, size_t len)
{
    if (text->broken || len >= text->len)
        return;
    text->len = len;
    text->bytes[len] = '\0';
}

/* Make room for `more` bytes and a NUL. */
static bool make_room(struct text *text, size_t more)
{
    size_t capacity = text->capacity == 0 ? TEXT_FIRST_BYTES : text->capacity;
    char *bytes = NULL;

    if (text->broken)
        return false;
    while (capacity < text->len + more + 1)
        capacity *= 2;
    if (capacity == text->capacity)
        return true;
    bytes = realloc(text->bytes, capacity);
    if (bytes == NULL) {
        text->broken = true;
        return false;
    }
    text->bytes = bytes;
    text->capacity = capacity;
    return true;
}

void text_add(struct text *text, const char *fmt, ...)
{
    va_list args;
    int n = 0;

    if (!make_room(text, 0))
        return;
    va_start(args, fmt);
    n = vsnprintf(text->bytes + text->len, text->capacity - text->len, fmt, args);
    va_end(args);
    if (n >= 0 && (size_t)n >= text->capacity - text->len &&
        make_room(text, (size_t)n)) {
        va_start(args, fmt);
        n = vsnprintf(text->bytes + text->len, text->capacity - text->len, fmt, args);
        va_end(args);
    }
    if (n < 0 || text->broken)
        text->broken = true;
    else
        text->len += (size_t)n;
}

static void add_bytes(struct text *text, const char *bytes, size_t n)
{
    if (!make_room(text, n))
        return;
    memcpy(text->bytes + text->len, bytes, n);
    text->len += n;
    text->bytes[text->len] = '\0';
}

void text_add_json(struct text *text, const char *value)
{
    if (value == NULL) {
        add_bytes(text, "null", 4);
        return;
    }
    add_bytes(text, "\"", 1);
    for (const char *p = value; *p != '\0';) {
        uint32_t character;
        size_t len = utf8_read(p, &character);

        if (len == 0)
            add_bytes(text, UTF8_REPLACEMENT, strlen(UTF8_REPLACEMENT));
        else if (*p == '"' || *p == '\\')
            text_add(text, "\\%c", *p);
        else if (utf8_is_control(character))
            text_add(text, "\\u%04x", character);
        else
            add_bytes(text, p, len);
        p += len > 0 ? len : 1;
    }
    add_bytes(text, "\"", 1);
}
