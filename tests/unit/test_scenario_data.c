/* SPDX-License-Identifier: MIT */
/* test_scenario_data.c -- checks the texts and data of every scenario. */
#include <stdlib.h>
#include <string.h>

#include "loadtest/compare/compare.h"
#include "loadtest/sale/hazard_catalogue.h"
#include "loadtest/scenario/catalogue.h"
#include "tests/registered.h"

TEST(test_each_is_told_in_both_languages)
{
    const struct scenario *scenario;

    for (size_t i = 0; (scenario = scenario_at(i)) != NULL; i++) {
        /* No other scenario has this name. */
        assert_ptr_equal(scenario_find(scenario->name), scenario);
        assert_true(scenario->number != NULL && scenario->source != NULL);
        assert_true(scenario->title != NULL && scenario->title_zh != NULL);
        assert_true(scenario->actors[0] == NULL || scenario->actors[0][0] != '+');
        assert_non_null(scenario->play);
        for (int line = 0; line < SCENARIO_LINES; line++)
            if (scenario->story[line] == NULL || scenario->story_zh[line] == NULL)
                fail_msg("%s has no line %d", scenario->name, line + 1);
    }
}

/* Each name in a text, separated by spaces, has to be that of a lock. */
static void check_names(const struct expectation *e)
{
    const char *names = e->locks;
    char name[64];

    for (; names != NULL && *names != '\0'; names += strspn(names, " ")) {
        size_t length = strcspn(names, " ");

        snprintf(name, sizeof name, "%.*s", (int)length, names);
        if (dlock_variant_find(name) == NULL)
            fail_msg("%s: no lock is called \"%s\"", e->of, name);
        names += length;
    }
}

/* The name in the command, with dashes. */
static const char *name_of(const struct expectation *e)
{
    static char name[64];

    snprintf(name, sizeof name, "%s", e->of);
    for (char *p = name; (p = strchr(p, '_')) != NULL; p++)
        *p = '-';
    return name;
}

TEST(test_expectations_name_what_there_is)
{
    const struct expectation *e;

    for (size_t i = 0; (e = expectation_at(i)) != NULL; i++) {
        const struct scenario *scenario = scenario_find(name_of(e));

        check_names(e);
        if (strlen(e->reason) < 10)
            fail_msg("%s: a row has no reason", e->of);
        if (e->kind == EXPECTATION_OF_HAZARD) {
            if (hazard_find(name_of(e)) == NULL && experiment_find(name_of(e)) == NULL)
                fail_msg("no hazard and no experiment is called %s", e->of);
        } else if (scenario == NULL) {
            fail_msg("no story is called %s", e->of);
        } else if (e->outcome == SCENARIO_EITHER) {
            fail_msg("%s: nobody can tell what a story comes to", e->of);
        } else if (e->outcome == SCENARIO_BREAKS && scenario->breaks == 0) {
            fail_msg("%s: nothing is a break", e->of);
        }
    }
}

TEST(test_each_has_an_expectation)
{
    const struct scenario *scenario;

    for (size_t i = 0; (scenario = scenario_at(i)) != NULL; i++)
        if (expectation_next(NULL, EXPECTATION_OF_STORY, scenario->name) == NULL)
            fail_msg("no outcome is expected of %s", scenario->name);
}

TEST(test_each_is_performed_once_for_a_lock_and_guard)
{
    const struct scenario *scenario;

    for (size_t i = 0; (scenario = scenario_at(i)) != NULL; i++) {
        struct scenario_setup *setups;
        size_t count = scenario_setups(scenario, NULL, NULL, &setups);

        if (count == 0)
            fail_msg("%s is about no lock", scenario->name);
        for (size_t a = 0; a < count; a++)
            for (size_t b = 0; b < a; b++)
                if (setups[a].lock == setups[b].lock &&
                    setups[a].guard == setups[b].guard)
                    fail_msg("%s is performed twice under %s", scenario->name,
                             setups[a].lock->name);
        free(setups);
    }
}

TEST(test_names_are_whole_words)
{
    assert_true(expectation_names("lua,naive", "naive"));
    assert_true(expectation_names("lua naive", "lua"));
    assert_false(expectation_names("lua-local", "lua"));
    assert_false(expectation_names(NULL, "lua"));
    assert_false(expectation_names("", "lua"));
}

TEST(no_two_scenarios_have_the_same_number_or_name)
{
    const struct scenario *one, *other;

    for (size_t i = 0; (one = scenario_at(i)) != NULL; i++) {
        for (size_t k = 0; k < i; k++) {
            other = scenario_at(k);
            if (strcmp(one->number, other->number) == 0 || strcmp(one->name, other->name) == 0)
                fail_msg("%s %s and %s %s", one->number, one->name, other->number,
                         other->name);
        }
    }
}
