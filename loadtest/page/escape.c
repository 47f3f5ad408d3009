/* SPDX-License-Identifier: MIT */
/* escape.c -- writes text into a page so that no character of it becomes a tag. */
#include "base/text/utf8.h"
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
    while (*text != '\0') {
        unsigned char c = (unsigned char)*text;
        size_t len = c < ' ' || c == 0x7f ? 0 : utf8_char_len(text);
        const char *entity = entity_of(*text);

        if (len == 0)
            fputs(UTF8_REPLACEMENT, out);
        else if (entity != NULL)
            fputs(entity, out);
        else
            fwrite(text, 1, len, out);
        text += len > 0 ? len : 1;
    }
}
