/* SPDX-License-Identifier: MIT */
/* expected.c -- the outcome of a batch beside its expectation. */
#include "tests/simulation/expected.h"

#include <stdio.h>
#include <string.h>

/* A break has to be seen in a batch of so many seeds. */
enum { BREAK_SEEDS = 1000 };

enum expectation { HOLDS, BREAKS, DEAD, EITHER };

static const struct row {
    enum class class;
    const char *variants;
    enum expectation outcome;
    const char *reason;
} rows[] = {
#define EXPECTED(class, variants, outcome, reason) {class, variants, outcome, reason},
#include "tests/simulation/expected.def"
#undef EXPECTED
};

const char *expected_variants(void)
{
    return "lua,reentrant";
}

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

bool expected_is(const struct batch *batch, const struct outcome *outcome, char *why,
                 size_t why_size)
{
    const struct row *row = row_of(batch);
    uint64_t allowed = outcome->verdicts[FINE];
    uint64_t shown = 0;

    if (row == NULL) {
        (void)snprintf(why, why_size, "expected.def has no row for it");
        return false;
    }
    if (row->outcome == BREAKS || row->outcome == EITHER)
        allowed += shown = outcome->verdicts[OVERLAP];
    if (row->outcome == DEAD)
        allowed += shown = outcome->verdicts[SHUT];
    if (outcome->different > 0) {
        (void)snprintf(why, why_size, "%llu seeds differ from themselves",
                       (unsigned long long)outcome->different);
    } else if (allowed < outcome->seeds) {
        (void)snprintf(why, why_size, "%llu seeds are not as expected: %s",
                       (unsigned long long)(outcome->seeds - allowed), row->reason);
    } else if (shown == 0 && row->outcome != HOLDS && row->outcome != EITHER &&
               outcome->seeds >= BREAK_SEEDS) {
        (void)snprintf(why, why_size, "no seed shows the break: %s", row->reason);
    } else {
        return true;
    }
    return false;
}
