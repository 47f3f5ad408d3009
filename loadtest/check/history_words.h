/* SPDX-License-Identifier: MIT */
/* history_words.h -- the words of a line of a history in text form, for history_text.c. */
#ifndef LOADTEST_CHECK_HISTORY_WORDS_H
#define LOADTEST_CHECK_HISTORY_WORDS_H

#include "loadtest/check/history.h"

enum { WORDS_MAX = 32, LINE_MAX_BYTES = 512, PROCESSES_MAX = 64 };

/* The facts about a process that the lines of a text have, in the times of the text. */
struct parsed_process {
    int index;          /* index + 1 in the history; 0: not there yet        */
    bool is_killed;
    int64_t killed_at;
    int64_t latest_at;  /* the latest time of a record of the process ...    */
    int latest_line;    /* ... and its line; 0: the process has no record    */
};

/* A text being read. */
struct parse {
    struct history *h;
    char line[LINE_MAX_BYTES];
    int line_number;
    char *words[WORDS_MAX + 1]; /* NULL after the last */
    int word_count;
    int at;                     /* the next word */
    struct parsed_process processes[PROCESSES_MAX]; /* p0, p1, ... */
    char *error;
    size_t error_size;
};

/* Set the error, which names the line.  Always false. */
bool words_wrong(struct parse *p, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/* Cut the line into its words, without its comment. */
void words_split(struct parse *p);

/* The next word; "": the line has no more. */
const char *words_next(struct parse *p);

/* The value of `word` if it is "key=value", else NULL. */
const char *words_value(const char *word, const char *key);

/* Has the line, from the word `first` on, an attribute twice, such as "until=30 until=90"?  True:
 * the error is set. */
bool words_repeat(struct parse *p, int first);

bool words_number(const char *text, int64_t *out);

/* A time or a duration, which may be milliseconds. */
bool words_time(const char *text, int64_t *out);

/* "p3" or "t3". */
bool words_label(const char *word, char letter, int64_t *out);

#endif /* LOADTEST_CHECK_HISTORY_WORDS_H */
