/* SPDX-License-Identifier: MIT */
/* paragraph.c -- words written in lines that fit a terminal. */
#include "base/text/paragraph.h"

#include <string.h>

static void put_word(struct paragraph *p, const char *word, size_t len)
{
    if (p->column == 0 || p->column + 1 + len > PARAGRAPH_WIDTH) {
        fprintf(p->out, "%s%*s", p->column ? "\n" : "", (int)p->indent, "");
        p->column = p->indent;
    } else {
        fputc(' ', p->out);
        p->column++;
    }
    fwrite(word, 1, len, p->out);
    p->column += len;
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
