/* SPDX-License-Identifier: MIT */
/* escape.c -- writes text into a page so that no character of it becomes a tag. */
#include <stdlib.h>

#include "base/os/utf8.h"
#include "loadtest/kit/files.h"
#include "loadtest/kit/url_mask.h"
#include "loadtest/page/scene.h"

static const char *entity_of(char c)
{
    switch (c) {
    case '&':
        return "&amp;";
    case '<':
        return "&lt;";
    case '>':
        return "&gt;";
    case '"':
        return "&quot;";
    case '\'':
        return "&#39;";
    default:
        return NULL;
    }
}

void page_text(FILE *out, const char *text)
{
    char piece[UTF8_PIECE_SIZE], *masked = url_mask(NULL, text);

    for (const char *at = masked; *at != '\0';) {
        const char *entity = entity_of(*at);

        at += utf8_piece(at, piece);
        fputs(entity != NULL ? entity : piece, out);
    }
    free(masked);
}

void page_json(FILE *out, const json_t *json, size_t flags)
{
    char *text = files_json_text(json, flags);

    for (const char *at = text; *at != '\0'; at++)
        if (*at == '<')
            fputs("\\u003c", out);
        else
            fputc(*at, out);
    free(text);
}
