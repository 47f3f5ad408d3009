/* SPDX-License-Identifier: MIT */
/* utf8.c -- cleans foreign text. */
#include "base/text/utf8.h"

#include <stdint.h>
#include <string.h>

/* The length of a character, from its first byte, and the least character that needs so
 * many bytes. */
static size_t announced_len(unsigned char first, uint32_t *least)
{
    if (first < 0x80) {
        *least = 0;
        return 1;
    }
    if (first >= 0xc0 && first < 0xe0) {
        *least = 0x80;
        return 2;
    }
    if (first >= 0xe0 && first < 0xf0) {
        *least = 0x800;
        return 3;
    }
    *least = 0x10000;
    return first >= 0xf0 && first < 0xf8 ? 4 : 0;
}

size_t utf8_char_len(const char *text)
{
    const unsigned char *at = (const unsigned char *)text;
    uint32_t least;
    size_t len = announced_len(at[0], &least);
    uint32_t value;

    if (len <= 1)
        return len;
    value = at[0] & (0x7fu >> len);
    for (size_t i = 1; i < len; i++) {
        if ((at[i] & 0xc0) != 0x80) /* also at the end of the text */
            return 0;
        value = value << 6 | (at[i] & 0x3fu);
    }
    if (value < least || value > 0x10ffff || (value >= 0xd800 && value < 0xe000))
        return 0;
    return len;
}

void utf8_clean(const char *text, char *out, size_t size)
{
    while (*text != '\0') {
        unsigned char c = (unsigned char)*text;
        size_t len = c < ' ' || c == 0x7f ? 0 : utf8_char_len(text);
        const char *piece = len > 0 ? text : UTF8_REPLACEMENT;
        size_t piece_len = len > 0 ? len : strlen(UTF8_REPLACEMENT);

        if (piece_len >= size)
            break;
        memcpy(out, piece, piece_len);
        out += piece_len;
        size -= piece_len;
        text += len > 0 ? len : 1;
    }
    *out = '\0';
}
