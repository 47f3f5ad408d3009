/* SPDX-License-Identifier: MIT */
/* paragraph.c -- words written in lines that fit a terminal. */
#include "base/text/paragraph.h"

#include <string.h>

static void make_room(struct paragraph *p, size_t len)
{
    if (p->column == 0 || p->column + 1 + len > PARAGRAPH_WIDTH) {
        fprintf(p->out, "%s%*s", p->column ? "\n" : "", (int)p->indent, "");
        p->column = p->indent;
    } else {
        fputc(' ', p->out);
        p->column++;
    }
    p->column += len;
}

static void put_word(struct paragraph *p, const char *word, size_t len)
{
    make_room(p, len);
    fwrite(word, 1, len, p->out);
}

void paragraph_words(struct paragraph *p, const char *text)
{
    while (*text) {
        size_t len = strcspn(text, " ");

        put_word(p, text, len);
        text += len;
        text += strspn(text, " ");
    }
}

void paragraph_name(struct paragraph *p, const char *name)
{
    const char *quote = strchr(name, ' ') ? "\"" : "";

    make_room(p, strlen(name) + 2 * strlen(quote));
    fprintf(p->out, "%s%s%s", quote, name, quote);
}
