/* SPDX-License-Identifier: MIT */
/* words.h -- texts of the page in both languages, of which the reader sees one. */
#ifndef LOADTEST_REPORT_WORDS_H
#define LOADTEST_REPORT_WORDS_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "loadtest/page/words.h"

enum word {
#define WORD(id, english, chinese) WORD_##id,
#include "loadtest/report/words.def"
#undef WORD
    WORD_COUNT
};

/* Print the text in both languages, each in an element that says its language.  The arguments
 * are texts, as many as the text asks for; whatever bytes they have, they are shown as text. */
#define say(out, id, ...) say_words(out, WORD_##id, (const char *const[]){"", ##__VA_ARGS__})
void say_words(FILE *out, enum word word, const char *const *arguments);

/* The same inside an element that ends its line; `tag` is the element's name, with its
 * attributes if it has some. */
#define say_in(out, tag, id, ...)                                                      \
    (page_begin(out, tag), say(out, id, ##__VA_ARGS__), page_end(out, tag))

/* Begin a section with this id and heading; a column of a table with this heading. */
void say_section(FILE *out, const char *id, enum word heading);
void say_head(FILE *out, enum word heading, bool is_number);

/* As say() does, inside an SVG drawing. */
#define draw(out, id, ...) draw_words(out, WORD_##id, (const char *const[]){"", ##__VA_ARGS__})
void draw_words(FILE *out, enum word word, const char *const *arguments);

enum { FIGURE_MAX = 40 };

/* A number as people read it: "12,345", "0.83", "1.5"; of a whole number all digits. */
const char *figure(double value, char out[FIGURE_MAX]);
const char *figure_whole(int64_t value, char out[FIGURE_MAX]);

#endif /* LOADTEST_REPORT_WORDS_H */
