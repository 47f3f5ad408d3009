/* SPDX-License-Identifier: MIT */
/* printable.c -- turns foreign text into one printable line. */
#include "base/text/printable.h"

#include <stdbool.h>
#include <string.h>

#include "base/os/utf8.h"

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

/* Write the next piece of the line, and return how many bytes of `text` it replaces. */
static size_t next_piece(const char *text, const char *out, size_t len, char piece[UTF8_PIECE_SIZE])
{
    bool breaks = false;
    size_t space = blanks(text, &breaks);

    if (breaks) {
        strcpy(piece, text[space] == '\0' || len == 0 ? "" : joint(out, len));
        return space;
    }
    if (*text != '\t')
        return utf8_piece(text, piece);
    strcpy(piece, " ");
    return 1;
}

char *printable(const char *text, char *out, size_t size)
{
    size_t len = 0, fits = 0; /* `fits`: the length at which CUT can still be added */
    char piece[UTF8_PIECE_SIZE];
    size_t piece_len;

    while (*text) {
        text += next_piece(text, out, len, piece);
        piece_len = strlen(piece);
        if (len + piece_len >= size)
            return strcpy(out + fits, CUT) - fits;
        memcpy(out + len, piece, piece_len);
        len += piece_len;
        if (len + sizeof CUT <= size)
            fits = len;
    }
    out[len] = '\0';
    return out;
}
