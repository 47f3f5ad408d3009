/* SPDX-License-Identifier: MIT */
/* words.c -- fills in texts, and finds the Chinese of messages. */
#include "loadtest/page/words.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/os/utf8.h"
#include "loadtest/kit/memory.h"
#include "loadtest/page/scene.h"
#include "loadtest/scenario/result.h"

enum { ARGUMENTS_MAX = 10, DEPTH_MAX = 3 };

struct pair {
    const char *english, *chinese;
};

static const struct pair words[] = {
#define WORD(id, english, chinese) {english, chinese},
#include "loadtest/page/words.def"
#undef WORD
};

static const struct pair phrases[] = {
#define PHRASE(english, chinese) {english, chinese},
#include "loadtest/page/phrases.def"
#undef PHRASE
};

/* The number of the argument that the pattern names here; -1: it names none. */
static int hole_at(const char *pattern)
{
    bool is_hole = pattern[0] == '{' && pattern[1] >= '0' && pattern[1] <= '9' && pattern[2] == '}';

    return is_hole ? pattern[1] - '0' : -1;
}

/* Does the text match the pattern?  The texts of its placeholders go to `found`.  A placeholder
 * ends at the first place at which the rest of the pattern matches. */
static bool fits(const char *pattern, const char *text, char found[][PAGE_PHRASE_MAX])
{
    int hole = hole_at(pattern);

    if (hole < 0) {
        if (*pattern == '\0' || *pattern != *text)
            return *pattern == *text;
        return fits(pattern + 1, text + 1, found);
    }
    for (size_t length = 1; text[length - 1] != '\0' && length < PAGE_PHRASE_MAX; length++)
        if (fits(pattern + 3, text + length, found)) {
            memcpy(found[hole], text, length);
            found[hole][length] = '\0';
            return true;
        }
    return false;
}

static void append(char out[PAGE_PHRASE_MAX], const char *text)
{
    size_t used = strlen(out), at = 0, length;

    for (; text[at] != '\0'; at += length) {
        length = utf8_char_len(text + at);
        length = length == 0 ? 1 : length;
        if (used + at + length >= PAGE_PHRASE_MAX)
            break;
        memcpy(out + used + at, text + at, length);
    }
    out[used + at] = '\0';
}

static bool find_chinese(const char *english, int depth, char out[PAGE_PHRASE_MAX]);

static void put_together(const char *pattern, char found[][PAGE_PHRASE_MAX], int depth,
                         char out[PAGE_PHRASE_MAX])
{
    char part[PAGE_PHRASE_MAX];

    out[0] = '\0';
    for (const char *at = pattern; *at != '\0';) {
        int hole = hole_at(at);

        if (hole >= 0) {
            (void)find_chinese(found[hole], depth + 1, part);
            append(out, part);
            at += 3;
        } else {
            append(out, (const char[]){*at++, '\0'});
        }
    }
}

/* Find a message as a whole.  The lists of outcomes and signs have the Chinese of their names. */
static const char *find_whole(const char *english)
{
    for (int i = 0; i < SCENARIO_OUTCOME_COUNT; i++)
        if (strcmp(scenario_outcome_name((enum scenario_outcome)i, false), english) == 0)
            return scenario_outcome_name((enum scenario_outcome)i, true);
    for (int i = 0; i < SIGN_COUNT; i++)
        if (strcmp(scenario_sign_name(i, false), english) == 0)
            return scenario_sign_name(i, true);
    for (size_t i = 0; i < sizeof phrases / sizeof phrases[0]; i++)
        if (strcmp(phrases[i].english, english) == 0)
            return phrases[i].chinese;
    return NULL;
}

/* The text that fills a placeholder may be a message itself. */
static bool find_chinese(const char *english, int depth, char out[PAGE_PHRASE_MAX])
{
    const char *whole = find_whole(english);
    char(*found)[PAGE_PHRASE_MAX] = NULL;
    bool is_known = whole != NULL;

    out[0] = '\0';
    append(out, whole != NULL ? whole : english);
    if (is_known || depth >= DEPTH_MAX || strlen(english) >= PAGE_PHRASE_MAX)
        return is_known;
    found = memory_need(malloc(ARGUMENTS_MAX * sizeof *found));
    for (size_t i = 0; i < sizeof phrases / sizeof phrases[0] && !is_known; i++) {
        is_known = strchr(phrases[i].english, '{') != NULL &&
                   fits(phrases[i].english, english, found);
        if (is_known)
            put_together(phrases[i].chinese, found, depth, out);
    }
    free(found);
    return is_known;
}

bool page_chinese(const char *english, char out[PAGE_PHRASE_MAX])
{
    return find_chinese(english, 0, out);
}

/* Print a text with its arguments.  The texts of words.def may have tags; arguments are escaped. */
static void fill(FILE *out, const char *text, const char *const *arguments, bool is_chinese)
{
    char chinese[PAGE_PHRASE_MAX];

    while (*text != '\0') {
        int hole = hole_at(text);

        if (hole < 0) {
            fputc(*text++, out);
            continue;
        }
        text += 3;
        if (is_chinese && page_chinese(arguments[hole + 1], chinese))
            page_text(out, chinese);
        else
            page_text(out, arguments[hole + 1]);
    }
}

void page_say_words(FILE *out, enum page_word word, const char *const *arguments)
{
    fputs("<span class=\"en\" lang=\"en\">", out);
    fill(out, words[word].english, arguments, false);
    fputs("</span><span class=\"zh\" lang=\"zh-CN\">", out);
    fill(out, words[word].chinese, arguments, true);
    fputs("</span>", out);
}

const char *page_whole(char out[PAGE_WHOLE_MAX], int64_t value)
{
    snprintf(out, PAGE_WHOLE_MAX, "%" PRId64, value);
    return out;
}

void page_attribute_words(FILE *out, const char *part, enum page_word word,
                          const char *const *arguments)
{
    fprintf(out, " data-en%s=\"", part);
    fill(out, words[word].english, arguments, false);
    fprintf(out, "\" data-zh%s=\"", part);
    fill(out, words[word].chinese, arguments, true);
    fputs("\"", out);
    if (strcmp(part, "-name") != 0)
        return;
    fputs(" aria-label=\"", out);
    fill(out, words[word].english, arguments, false);
    fputs("\"", out);
}

void page_title_words(FILE *out, enum page_word word, const char *const *arguments)
{
    fputs("<title", out);
    page_attribute_words(out, "", word, arguments);
    fputs(">", out);
    fill(out, words[word].english, arguments, false);
    fputs("</title>", out);
}

void page_phrase(FILE *out, const char *element, const char *english)
{
    char chinese[PAGE_PHRASE_MAX];

    if (!page_chinese(english, chinese)) {
        page_text(out, english);
        return;
    }
    fprintf(out, "<%s class=\"en\" lang=\"en\">", element);
    page_text(out, english);
    fprintf(out, "</%s><%s class=\"zh\" lang=\"zh-CN\">", element, element);
    page_text(out, chinese);
    fprintf(out, "</%s>", element);
}

void page_begin(FILE *out, const char *tag)
{
    fprintf(out, "<%s>", tag);
}

void page_end(FILE *out, const char *tag)
{
    fprintf(out, "</%.*s>\n", (int)strcspn(tag, " "), tag);
}

void page_phrase_in(FILE *out, const char *tag, const char *english)
{
    page_begin(out, tag);
    page_phrase(out, "span", english);
    page_end(out, tag);
}
