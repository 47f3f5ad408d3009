/* SPDX-License-Identifier: MIT */
/* printable.c -- turns foreign text into one printable line. */
#include "base/text/printable.h"

#include <stdbool.h>
#include <string.h>

#include "base/text/utf8.h"

static const char CUT[] = "...";

/* The whitespace at the start of `text`; `*breaks` says whether a line ends in it. */
static size_t blanks(const char *text, bool *breaks)
{
    size_t n = strspn(text, " \t\r\n");

    *breaks = memchr(text, '\n', n) != NULL || memchr(text, '\r', n) != NULL;
    return n;
}

/* The text that replaces a line break after the `len` bytes of `out`. */
static const char *joint(const char *out, size_t len)
{
    return len > 0 && strchr(".,;:", out[len - 1]) ? " " : "; ";
}

/* Find the next piece of the line, and how many bytes of `text` it replaces. */
static size_t next_piece(const char *text, const char *out, size_t len, const char **piece,
                         size_t *piece_len)
{
    bool breaks = false;
    size_t space = blanks(text, &breaks), character;

    if (breaks) {
        *piece = text[space] == '\0' || len == 0 ? "" : joint(out, len);
        *piece_len = strlen(*piece);
        return space;
    }
    character = utf8_char_len(text);
    *piece = text;
    *piece_len = character;
    if (character == 0 || utf8_is_control(text)) {
        *piece = *text == '\t' ? " " : "?";
        *piece_len = 1;
        return character > 0 ? character : 1;
    }
    return character;
}

size_t printable_len(const char *text, char *out, size_t size)
{
    size_t len = 0, fits = 0; /* `fits`: the length at which CUT can still be added */
    const char *piece;
    size_t piece_len;

    while (*text) {
        text += next_piece(text, out, len, &piece, &piece_len);
        if (len + piece_len >= size) {
            memcpy(out + fits, CUT, sizeof CUT);
            return fits + sizeof CUT - 1;
        }
        memcpy(out + len, piece, piece_len);
        len += piece_len;
        if (len + sizeof CUT <= size)
            fits = len;
    }
    out[len] = '\0';
    return len;
}

char *printable(const char *text, char *out, size_t size)
{
    (void)printable_len(text, out, size);
    return out;
}
