/* SPDX-License-Identifier: MIT */
/* utf8.c -- decides what of a foreign text is shown. */
#include "base/os/utf8.h"

#include <ctype.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/os/number.h"

size_t utf8_read(const char *text, uint32_t *value)
{
    static const uint32_t LEAST[] = {0, 0, 0x80, 0x800, 0x10000}; /* that needs so many bytes */
    const unsigned char *at = (const unsigned char *)text;
    size_t len = at[0] < 0x80 ? 1 : at[0] < 0xc0 ? 0 : at[0] < 0xe0 ? 2 : at[0] < 0xf0 ? 3 : 4;

    *value = len <= 1 ? at[0] : at[0] & (0x7fu >> len);
    for (size_t i = 1; i < len; i++) {
        if ((at[i] & 0xc0) != 0x80) /* also at the end of the text */
            return 0;
        *value = *value << 6 | (at[i] & 0x3fu);
    }
    return at[0] >= 0xf8 || *value < LEAST[len] || *value > 0x10ffff ||
                   (*value >= 0xd800 && *value < 0xe000)
               ? 0
               : len;
}

size_t utf8_char_len(const char *text)
{
    uint32_t value;

    return utf8_read(text, &value);
}

/* C0 and C1, of which U+009B begins what a terminal obeys; marks of direction; ends of lines and
 * paragraphs. */
bool utf8_is_control(uint32_t value)
{
    return value < 0x20 || (value >= 0x7f && value < 0xa0) || value == 0x61c ||
           value == 0x200e || value == 0x200f || (value >= 0x2028 && value <= 0x202e) ||
           (value >= 0x2066 && value <= 0x2069);
}

enum { HIDDEN_LEAST = 4, HIDDEN_ANYWHERE = 8 };

/* Secrets are kept for as long as the process: a late message may have one. */
static struct hidden {
    struct hidden *next;
    size_t len;
    char bytes[];
} *_Atomic hidden_first;

/* The length of the secret at `text`; 0: it does not stand there. */
static size_t hidden_len(const struct hidden *hidden, const char *text)
{
    const char *at = text;
    size_t count = 0;

    for (; count < hidden->len && *at != '\0'; count++) {
        unsigned char byte = (unsigned char)hidden->bytes[count];

        if ((unsigned char)*at == byte)
            at++;
        else if (dlock_number_byte(&at, at + strnlen(at, 3)) != byte)
            return 0;
    }
    if (count < hidden->len ? count < HIDDEN_LEAST
                            : count < HIDDEN_ANYWHERE && isalnum((unsigned char)*at) &&
                                  isalnum((unsigned char)at[-1]))
        return 0;
    return (size_t)(at - text);
}

bool utf8_hide(const char *secret)
{
    size_t len = secret != NULL ? strlen(secret) : 0;
    struct hidden *hidden = len < HIDDEN_LEAST ? NULL : atomic_load(&hidden_first);

    while (hidden != NULL && strcmp(hidden->bytes, secret) != 0)
        hidden = hidden->next;
    if (len < HIDDEN_LEAST || hidden != NULL)
        return true;
    hidden = malloc(sizeof(*hidden) + len + 1);
    if (hidden == NULL)
        return false;
    hidden->len = len;
    memcpy(hidden->bytes, secret, len + 1);
    hidden->next = atomic_load(&hidden_first);
    while (!atomic_compare_exchange_weak(&hidden_first, &hidden->next, hidden))
        continue;
    return true;
}

size_t utf8_piece(const char *text, char out[UTF8_PIECE_SIZE])
{
    uint32_t value;
    size_t len = 0;

    for (const struct hidden *h = atomic_load(&hidden_first); h != NULL && len == 0; h = h->next)
        len = hidden_len(h, text);
    strcpy(out, "***");
    if (len > 0)
        return len;
    len = utf8_read(text, &value);
    if (len == 0 || value < 0x20 || value == 0x7f)
        (void)snprintf(out, UTF8_PIECE_SIZE, "\\x%02x", (unsigned char)*text);
    else if (utf8_is_control(value))
        (void)snprintf(out, UTF8_PIECE_SIZE, "\\u%04x", value & 0xffffu);
    else
        (void)snprintf(out, UTF8_PIECE_SIZE, "%.*s", (int)len, text);
    return len > 0 ? len : 1;
}

void utf8_show(const char *text, char *out, size_t size)
{
    char piece[UTF8_PIECE_SIZE];

    for (size_t len; *text != '\0'; size -= len) {
        text += utf8_piece(text, piece);
        len = strlen(piece);
        if (len >= size)
            break;
        memcpy(out, piece, len);
        out += len;
    }
    *out = '\0';
}
