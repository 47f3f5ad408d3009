/* SPDX-License-Identifier: MIT */
/* utf8.c -- decides what of a foreign text is shown. */
#include "base/os/utf8.h"

#include <stdio.h>
#include <string.h>

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

size_t utf8_piece(const char *text, char out[UTF8_PIECE_SIZE])
{
    uint32_t value;
    size_t len = utf8_read(text, &value);

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
