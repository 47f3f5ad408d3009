/* SPDX-License-Identifier: MIT */
/* history_words.c -- cuts a line of a history in text form into words, and reads numbers. */
#include "loadtest/check/history_words.h"

#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/os/clock.h"

bool words_wrong(struct parse *p, const char *fmt, ...)
{
    int length = snprintf(p->error, p->error_size, "line %d: ", p->line_number);
    va_list args;

    va_start(args, fmt);
    vsnprintf(p->error + length, p->error_size - (size_t)length, fmt, args);
    va_end(args);
    return false;
}

void words_split(struct parse *p)
{
    char *rest = p->line, *word;

    p->at = p->word_count = 0;
    p->line[strcspn(p->line, "#")] = '\0';
    while (p->word_count < WORDS_MAX && (word = strtok_r(rest, " \t", &rest)) != NULL)
        p->words[p->word_count++] = word;
}

const char *words_next(struct parse *p)
{
    return p->at < p->word_count ? p->words[p->at++] : "";
}

const char *words_value(const char *word, const char *key)
{
    size_t length = strlen(key);

    return strncmp(word, key, length) == 0 && word[length] == '=' ? word + length + 1
                                                                   : NULL;
}

static bool is_same_attribute(const char *a, const char *b)
{
    size_t length = strcspn(a, "=");

    return length == strcspn(b, "=") && memcmp(a, b, length) == 0;
}

bool words_repeat(struct parse *p, int first)
{
    for (int i = first + 1; i < p->word_count; i++)
        for (int j = first; j < i; j++)
            if (is_same_attribute(p->words[i], p->words[j])) {
                (void)words_wrong(p, "\"%s\" is there a second time", p->words[i]);
                return true;
            }
    return false;
}

bool words_number(const char *text, int64_t *out)
{
    char *end;

    errno = 0;
    *out = strtoll(text, &end, 10);
    return end != text && *end == '\0' && errno == 0;
}

bool words_time(const char *text, int64_t *out)
{
    return words_number(text, out) && *out >= 0 &&
           *out <= HISTORY_TIME_MAX / DLOCK_NS_PER_MS;
}

bool words_label(const char *word, char letter, int64_t *out)
{
    return word[0] == letter && words_number(word + 1, out) && *out >= 0;
}
