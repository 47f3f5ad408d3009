/* SPDX-License-Identifier: MIT */
/* words.h -- texts of the timeline, of the matrix and of figures, in English and Chinese, of
 * which a page shows the language that its reader chose.
 *
 * The messages of other directories are in English only.  phrases.def has the Chinese of these
 * messages; a message that it does not have, such as the name of a lock, is not translated.
 *
 * Threads     Any: all of it is constant.
 */
#ifndef LOADTEST_PAGE_WORDS_H
#define LOADTEST_PAGE_WORDS_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

enum page_word {
#define WORD(id, english, chinese) PAGE_WORD_##id,
#include "loadtest/page/words.def"
#undef WORD
    PAGE_WORD_COUNT
};

/* Longer messages are cut off, at a whole character. */
enum { PAGE_PHRASE_MAX = 512 };

/* Print a text of words.def in both languages, each in an element that says its language.
 * The arguments are texts, as many as the text asks for; whatever bytes they have, they are
 * shown as text, and in Chinese each is said in Chinese if phrases.def has it. */
#define page_say(out, id, ...)                                                         \
    page_say_words(out, PAGE_WORD_##id, (const char *const[]){"", ##__VA_ARGS__})
void page_say_words(FILE *out, enum page_word word, const char *const *arguments);

/* A whole number as such an argument.  It lasts as long as the block it stands in. */
enum { PAGE_WHOLE_MAX = 24 };
#define WHOLE(value) page_whole((char[PAGE_WHOLE_MAX]){""}, (int64_t)(value))
const char *page_whole(char out[PAGE_WHOLE_MAX], int64_t value);

/* Print a text of words.def as the name of an element, which screen readers say: the attributes
 * data-en-name and data-zh-name, of which head.js chooses one, and aria-label, in English. */
#define page_name(out, id, ...)                                                        \
    page_attribute_words(out, "-name", PAGE_WORD_##id, (const char *const[]){"", ##__VA_ARGS__})
void page_attribute_words(FILE *out, const char *part, enum page_word word,
                          const char *const *arguments);
/* Print a text of words.def as the title of a shape: as text, and as data-en and data-zh. */
void page_title_words(FILE *out, enum page_word word, const char *const *arguments);

/* Print a message of another directory in both languages if phrases.def has it, else once;
 * `element` is "span", or "tspan" in a drawing. */
void page_phrase(FILE *out, const char *element, const char *english);

/* Print a text of words.def, or a message, inside an element that ends its line.  `tag`
 * is the element's name, with its attributes if it has some: "p class=\"note\"". */
#define page_say_in(out, tag, id, ...)                                                 \
    (page_begin(out, tag), page_say(out, id, ##__VA_ARGS__), page_end(out, tag))
void page_phrase_in(FILE *out, const char *tag, const char *english);
void page_begin(FILE *out, const char *tag);
void page_end(FILE *out, const char *tag);

/* The Chinese of a message.  False: it is not known, and `out` has the message itself. */
bool page_chinese(const char *english, char out[PAGE_PHRASE_MAX]);

#endif /* LOADTEST_PAGE_WORDS_H */
