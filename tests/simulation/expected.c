/* SPDX-License-Identifier: MIT */
/* expected.c -- compares the counts of a batch with their expectation. */
#include "tests/simulation/expected.h"

#include <stdio.h>
#include <string.h>

#include "tests/simulation/faults.h"
#include "tests/simulation/subject.h"

/* A verdict that must occur has to occur in a batch of at least this many seeds. */
enum { BREAK_SEEDS = 1000 };

static const struct row {
    const char *class;
    const char *subjects; /* separated by spaces */
    const char *must, *may; /* the verdict that must occur; the verdicts that may occur */
    const char *reason;
} rows[] = {
#define EXPECT(...)
#define CHECK_GAP(names)
#define SIMULATED(class, subjects, must, may, reason) {#class, subjects, must, may, reason},
#include "loadtest/expect/expectations.def"
#undef SIMULATED
#undef CHECK_GAP
#undef EXPECT
};

static bool has_word(const char *words, const char *word)
{
    size_t len = strlen(word);

    if (strcmp(words, "all") == 0)
        return true;
    for (const char *at = strstr(words, word); at != NULL; at = strstr(at + 1, word))
        if ((at == words || at[-1] == ' ') && (at[len] == ' ' || at[len] == '\0'))
            return true;
    return false;
}

static bool is_verdict(const char *word)
{
    for (int i = FINE + 1; i < VERDICT_COUNT; i++)
        if (strcmp(world_verdict_name((enum verdict)i), word) == 0)
            return true;
    return false;
}

static bool is_subject(const char *word)
{
    return strcmp(word, "all") == 0 || subject_find(word) != NULL;
}

static bool is_class(const char *word)
{
    for (int i = 0; i < CLASS_COUNT; i++)
        if (strcmp(class_rows[i].name, word) == 0)
            return true;
    return false;
}

static bool are_all(const char *words, bool (*is_known)(const char *word), const char *what)
{
    char copy[256];
    char *save = NULL;

    (void)snprintf(copy, sizeof(copy), "%s", words);
    for (char *word = strtok_r(copy, " ", &save); word != NULL;
         word = strtok_r(NULL, " ", &save))
        if (!is_known(word)) {
            (void)fprintf(stderr, "simulate: expectations.def names the %s %s, which does not "
                          "exist\n", what, word);
            return false;
        }
    return true;
}

bool expected_check(void)
{
    bool is_fine = true;

    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
        is_fine = are_all(rows[i].class, is_class, "class") &&
                  are_all(rows[i].subjects, is_subject, "subject") &&
                  are_all(rows[i].must, is_verdict, "verdict") &&
                  are_all(rows[i].may, is_verdict, "verdict") && is_fine;
    return is_fine;
}

static const struct row *row_of(const struct batch *batch)
{
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
        if (strcmp(rows[i].class, class_rows[batch->class].name) == 0 &&
            has_word(rows[i].subjects, batch->variant->name))
            return &rows[i];
    return NULL;
}

bool expected_is_wrong(const struct batch *batch, enum verdict verdict)
{
    const struct row *row = row_of(batch);
    const char *name = world_verdict_name(verdict);

    return verdict != FINE &&
           (row == NULL || (strcmp(row->must, name) != 0 && !has_word(row->may, name)));
}

bool expected_is(const struct batch *batch, const struct outcome *outcome, char *why,
                 size_t why_size)
{
    const struct row *row = row_of(batch);
    uint64_t wrong = 0, shown = 0;

    if (row == NULL) {
        (void)snprintf(why, why_size, "expectations.def has no row for it");
        return false;
    }
    for (int i = FINE + 1; i < VERDICT_COUNT; i++) {
        const char *name = world_verdict_name((enum verdict)i);

        if (strcmp(row->must, name) == 0)
            shown += outcome->verdicts[i];
        else if (expected_is_wrong(batch, (enum verdict)i))
            wrong += outcome->verdicts[i];
    }
    if (outcome->different > 0) {
        (void)snprintf(why, why_size, "%llu seeds differ from themselves",
                       (unsigned long long)outcome->different);
    } else if (outcome->disputed > 0) {
        (void)snprintf(why, why_size, "`seckill check` disputes %llu of %llu verdicts",
                       (unsigned long long)outcome->disputed,
                       (unsigned long long)outcome->checked);
    } else if (wrong > 0) {
        (void)snprintf(why, why_size, "%llu seeds are not as expected: %s",
                       (unsigned long long)wrong, row->reason);
    } else if (shown == 0 && row->must[0] != '\0' && outcome->seeds >= BREAK_SEEDS) {
        (void)snprintf(why, why_size, "no seed came to `%s`: %s", row->must, row->reason);
    } else {
        return true;
    }
    return false;
}
