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

bool utf8_is_control(const char *text)
{
    /* The last byte of a character, after the bytes before it. */
    static const struct {
        const char *before;
        unsigned char least, most;
    } OTHERS[] = {
        {"\xc2", 0x80, 0x9f},     /* C1: U+009B begins what a terminal obeys */
        {"\xd8", 0x9c, 0x9c},     /* a mark of direction */
        {"\xe2\x80", 0x8e, 0x8f}, /* the same */
        {"\xe2\x80", 0xa8, 0xae}, /* ends of lines and paragraphs, marks of direction */
        {"\xe2\x81", 0xa6, 0xa9}, /* marks of direction */
    };
    unsigned char c = (unsigned char)*text;

    if (c < 0x80)
        return c < ' ' || c == 0x7f;
    for (size_t i = 0; i < sizeof(OTHERS) / sizeof(OTHERS[0]); i++) {
        size_t len = strlen(OTHERS[i].before);

        if (strncmp(text, OTHERS[i].before, len) == 0 &&
            (unsigned char)text[len] >= OTHERS[i].least &&
            (unsigned char)text[len] <= OTHERS[i].most)
            return true;
    }
    return false;
}

void utf8_clean(const char *text, char *out, size_t size)
{
    while (*text != '\0') {
        size_t len = utf8_char_len(text);
        bool is_shown = len > 0 && !utf8_is_control(text);
        const char *piece = is_shown ? text : UTF8_REPLACEMENT;
        size_t piece_len = is_shown ? len : strlen(UTF8_REPLACEMENT);

        if (piece_len >= size)
            break;
        memcpy(out, piece, piece_len);
        out += piece_len;
        size -= piece_len;
        text += len > 0 ? len : 1;
    }
    *out = '\0';
}
