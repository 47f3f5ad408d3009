/* SPDX-License-Identifier: MIT */
/* checker.c -- reads the records, runs the checker on them, and compares the verdicts.
 * loadtest/ and the simulation have verdicts of the same names, so this file includes
 * no header of the simulation's world. */
#include "tests/simulation/checker.h"

#include <stdio.h>

#include "loadtest/check/check.h"

/* The numbers of violations that no release by force explains. */
struct counts {
    int64_t of[CHECK_COUNT];
};

static void see(void *arg, enum check_property property, const struct check_example *example)
{
    struct counts *counts = arg;

    if (example->assumption != DLOCK_ASSUMES_RELEASE)
        counts->of[property]++;
}

/* Is the property broken? In calm, a release by force is the only fault that is recorded. */
static bool is_broken(const struct check_verdict *verdict, const struct counts *counts,
                      bool is_calm, enum check_property property)
{
    if (is_calm && verdict->faults > 0)
        return counts->of[property] > 0;
    return verdict->findings[property].valid == VERDICT_INVALID;
}

static bool says(char *why, size_t why_size, const char *oracle, enum check_property property,
                 const char *found)
{
    (void)snprintf(why, why_size, "the oracles say %s, and `seckill check` finds %s %s", oracle,
                   check_property_name(property), found);
    return false;
}

static bool compare(const struct check_verdict *verdict, const struct counts *counts,
                    const struct checker_claim *claim, char *why, size_t why_size)
{
    if (claim->is_overlap && verdict->findings[CHECK_exclusion].valid == VERDICT_VALID &&
        verdict->findings[CHECK_kept].valid == VERDICT_VALID)
        return says(why, why_size, "overlap", CHECK_exclusion, "valid");
    if (claim->is_fence && verdict->findings[CHECK_fence].valid == VERDICT_VALID)
        return says(why, why_size, "fence", CHECK_fence, "valid");
    if (!claim->is_fine || !claim->is_sound)
        return true;
    for (int i = 0; i < CHECK_COUNT; i++)
        if ((claim->is_calm || i == CHECK_exclusion || i == CHECK_fence) &&
            is_broken(verdict, counts, claim->is_calm, (enum check_property)i))
            return says(why, why_size, "fine", (enum check_property)i, "broken");
    return true;
}

bool checker_agrees(const char *dir, const struct checker_claim *claim, char *why,
                    size_t why_size)
{
    struct check *check = check_new();
    struct history history = {0};
    struct counts counts = {{0}};
    struct check_options options = check_options_default();
    struct check_verdict verdict;
    bool agrees = false;

    (void)snprintf(why, why_size, "there are no records in %s", dir);
    if (history_read(&history, dir) && history.call_count > 0) {
        options.each = see;
        options.arg = &counts;
        check_judge(check, &history, &options, &verdict);
        agrees = compare(&verdict, &counts, claim, why, why_size);
    }
    history_free(&history);
    check_free(check);
    return agrees;
}
