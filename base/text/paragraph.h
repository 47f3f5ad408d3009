/* SPDX-License-Identifier: MIT */
/* paragraph.h -- words written in lines that fit a terminal.
 *
 *     struct paragraph p = {.out = stdout, .indent = 6};
 *
 *     paragraph_words(&p, "a long text");
 *     fputc('\n', stdout);
 *
 * Threads     A paragraph belongs to one thread.
 */
#ifndef BASE_TEXT_PARAGRAPH_H
#define BASE_TEXT_PARAGRAPH_H

#include <stddef.h>
#include <stdio.h>

enum { PARAGRAPH_WIDTH = 88 /* columns */ };

/* The place of the next word.  A caller that has begun the line sets `column` to the
 * number of characters in the line. */
struct paragraph {
    FILE *out; /* lent */
    size_t indent, column; /* in characters; `indent` is of every line that begins here */
};

/* Write the words of `text`, which blanks separate.  The last line is not ended.  A word
 * that is longer than a line gets a line of its own. */
void paragraph_words(struct paragraph *p, const char *text);

/* Write a name, which stays in one line.  A name with a blank gets double quotes. */
void paragraph_name(struct paragraph *p, const char *name);

#endif /* BASE_TEXT_PARAGRAPH_H */
