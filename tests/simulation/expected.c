/* SPDX-License-Identifier: MIT */
/* expected.c -- the outcome of a batch beside its expectation. */
#include "tests/simulation/expected.h"

#include <stdio.h>
#include <string.h>

/* A break has to be seen in a batch of so many seeds. */
enum { BREAK_SEEDS = 1000 };

static const struct row {
    enum class class;
    const char *variants;
    const char *must, *may; /* verdicts */
    const char *reason;
} rows[] = {
#define EXPECTED(class, variants, must, may, reason) {class, variants, must, may, reason},
#include "tests/simulation/expected.def"
#undef EXPECTED
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

static const struct row *row_of(const struct batch *batch)
{
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
        if (rows[i].class == batch->class && has_word(rows[i].variants, batch->variant->name))
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
        (void)snprintf(why, why_size, "expected.def has no row for it");
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
