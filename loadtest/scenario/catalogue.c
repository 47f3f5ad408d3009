/* SPDX-License-Identifier: MIT */
/* catalogue.c -- the list of scenarios, and the performances of each: under which lock
 * and guard, with which expectation. */
#include "loadtest/scenario/catalogue.h"

#include <stdlib.h>
#include <string.h>

#include "loadtest/kit/memory.h"

#define SCENARIO(file) extern const struct scenario scenario_##file;
#include "loadtest/scenario/scenarios.def"
#undef SCENARIO

static const struct scenario *const scenarios[] = {
#define SCENARIO(file) &scenario_##file,
#include "loadtest/scenario/scenarios.def"
#undef SCENARIO
};

enum { SCENARIO_COUNT = sizeof scenarios / sizeof scenarios[0] };

const struct scenario *scenario_at(size_t i)
{
    return i < SCENARIO_COUNT ? scenarios[i] : NULL;
}

const struct scenario *scenario_find(const char *name)
{
    for (size_t i = 0; i < SCENARIO_COUNT; i++)
        if (strcmp(scenarios[i]->name, name) == 0)
            return scenarios[i];
    return NULL;
}

static const struct stock_guard *guard_of(const struct scenario *scenario)
{
    return scenario->guard != NULL ? scenario->guard : &guard_read_write;
}

/* Write to `out` the first expectation that fits this lock and names no guard, and each
 * that names a guard.  `out` NULL: count only. */
static size_t setup_lock(struct scenario_setup *out, const struct scenario *scenario,
                        const dlock_variant_info *lock, const struct stock_guard *guard)
{
    const struct expectation *e = NULL;
    bool is_cast = false;
    size_t count = 0;

    while ((e = expectation_next(e, EXPECTATION_OF_STORY, scenario->name)) != NULL) {
        const struct stock_guard *under = e->guard != NULL ? e->guard : guard_of(scenario);

        if (!expectation_fits(e, lock) || (e->guard == NULL && is_cast) ||
            (guard != NULL && guard != under))
            continue;
        is_cast |= e->guard == NULL;
        if (e->outcome == SCENARIO_NOT_SPOKEN_OF)
            continue;
        if (out != NULL)
            out[count] = (struct scenario_setup){
                .scenario = scenario, .lock = lock, .guard = under, .expected = e};
        count++;
    }
    return count;
}

static size_t setup_locks(struct scenario_setup *out, const struct scenario *scenario,
                         const char *locks, const struct stock_guard *guard)
{
    size_t count = 0;

    for (size_t i = 0; i < dlock_variant_count(); i++) {
        const dlock_variant_info *lock = dlock_variant_at(i);

        if (locks == NULL || expectation_names(locks, lock->name))
            count += setup_lock(out != NULL ? out + count : NULL, scenario, lock, guard);
    }
    return count;
}

size_t scenario_setups(const struct scenario *scenario, const char *locks,
                         const struct stock_guard *guard, struct scenario_setup **out)
{
    size_t count = setup_locks(NULL, scenario, locks, guard);

    *out = memory_need(calloc(count + 1, sizeof **out));
    return setup_locks(*out, scenario, locks, guard);
}
