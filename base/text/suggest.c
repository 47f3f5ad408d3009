/* SPDX-License-Identifier: MIT */
/* suggest.c -- the nearest name by edit distance (Levenshtein, a swap counts one). */
#include "base/text/suggest.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "base/text/printable.h"

enum { WORD_MAX = 64, SHOWN_MAX = 80 };

static size_t min3(size_t a, size_t b, size_t c)
{
    size_t least = a < b ? a : b;

    return least < c ? least : c;
}

/* A capital letter is no typing error. */
static char small(char c)
{
    return c >= 'A' && c <= 'Z' ? (char)(c - 'A' + 'a') : c;
}

static bool are_alike(char a, char b)
{
    return small(a) == small(b);
}

static size_t edits(const char *a, const char *b)
{
    size_t rows[3][WORD_MAX + 1];
    size_t a_len = strlen(a), b_len = strlen(b);
    size_t *before = rows[0], *last = rows[1], *row = rows[2], *spare;

    if (a_len > WORD_MAX || b_len > WORD_MAX)
        return SIZE_MAX;
    for (size_t j = 0; j <= b_len; j++)
        last[j] = j;
    for (size_t i = 1; i <= a_len; i++) {
        row[0] = i;
        for (size_t j = 1; j <= b_len; j++) {
            row[j] = min3(last[j] + 1, row[j - 1] + 1,
                          last[j - 1] + !are_alike(a[i - 1], b[j - 1]));
            if (i > 1 && j > 1 && are_alike(a[i - 1], b[j - 2]) && are_alike(a[i - 2], b[j - 1]) &&
                before[j - 2] + 1 < row[j])
                row[j] = before[j - 2] + 1;
        }
        spare = before;
        before = last;
        last = row;
        row = spare;
    }
    return last[b_len];
}

const char *suggest(const char *word, const char *(*names)(size_t i))
{
    const char *best = NULL;
    size_t fewest = strlen(word) / 3 + 1;
    const char *name;

    for (size_t i = 0; (name = names(i)) != NULL; i++) {
        size_t n = edits(word, name);

        if (n < fewest || (n == fewest && best == NULL && n < strlen(name))) {
            fewest = n;
            best = name;
        }
    }
    return best;
}

void suggest_tell(const char *word, const char *(*names)(size_t i))
{
    const char *near = suggest(word, names);

    if (near)
        fprintf(stderr, "; did you mean \"%s\"?", near);
    fprintf(stderr, "\n  one of:");
    for (size_t i = 0; names(i); i++)
        fprintf(stderr, strchr(names(i), ' ') ? " \"%s\"" : " %s", names(i));
    fputc('\n', stderr);
}

void suggest_command(const char *program, const char *word, const char *(*names)(size_t i))
{
    char shown[SHOWN_MAX];

    fprintf(stderr, "%s: unknown command \"%s\"", program,
            printable(word, shown, sizeof shown));
    suggest_tell(word, names);
}
