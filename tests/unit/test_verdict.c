/* SPDX-License-Identifier: MIT */
/* test_verdict.c -- several verdicts give the worst of them, in words, in JSON and as an exit
 * status. */
#include <jansson.h>
#include <stdlib.h>

#include "loadtest/kit/verdict.h"
#include "tests/registered.h"

TEST(what_was_found_hides_what_is_not_known)
{
    static const enum verdict WORSE[3][3] = {
        [VERDICT_VALID] = {VERDICT_VALID, VERDICT_UNKNOWN, VERDICT_INVALID},
        [VERDICT_UNKNOWN] = {VERDICT_UNKNOWN, VERDICT_UNKNOWN, VERDICT_INVALID},
        [VERDICT_INVALID] = {VERDICT_INVALID, VERDICT_INVALID, VERDICT_INVALID},
    };

    for (int a = 0; a < VERDICT_COUNT; a++)
        for (int b = 0; b < VERDICT_COUNT; b++)
            assert_int_equal(verdict_worse((enum verdict)a, (enum verdict)b), WORSE[a][b]);
}

TEST(the_worst_of_many_is_what_merging_them_says)
{
    for (unsigned set = 0; set < 1u << VERDICT_COUNT; set++) {
        struct verdict_counts counts = {0};
        enum verdict merged = VERDICT_VALID;

        for (int v = 0; v < VERDICT_COUNT; v++)
            if (set & 1u << v) {
                verdict_count(&counts, (enum verdict)v);
                verdict_count(&counts, (enum verdict)v);
                assert_int_equal(counts.of[v], 2);
                merged = verdict_worse(merged, (enum verdict)v);
            }
        assert_int_equal(verdict_worst(&counts), merged);
    }
}

TEST(each_verdict_has_its_words_and_its_status)
{
    static const struct {
        enum verdict verdict;
        const char *name, *title, *mark, *beside, *json;
        enum exit_code code;
        enum report_style style;
    } CASES[] = {
        {VERDICT_VALID, "valid", "VALID", "ok ", "as expected", "true", EXIT_VALID, STYLE_GOOD},
        {VERDICT_INVALID, "invalid", "INVALID", "BAD", "UNEXPECTED", "false",
         EXIT_INVALID, STYLE_BAD},
        {VERDICT_UNKNOWN, "unknown", "UNKNOWN", "?  ", "unknown", "\"unknown\"",
         EXIT_UNKNOWN, STYLE_WARN},
    };

    for (size_t i = 0; i < sizeof CASES / sizeof CASES[0]; i++) {
        json_t *json = verdict_to_json(CASES[i].verdict);
        char *text = json_dumps(json, JSON_ENCODE_ANY);

        assert_string_equal(verdict_name(CASES[i].verdict), CASES[i].name);
        assert_string_equal(verdict_title(CASES[i].verdict), CASES[i].title);
        assert_string_equal(verdict_mark(CASES[i].verdict), CASES[i].mark);
        assert_string_equal(verdict_beside_expectation(CASES[i].verdict), CASES[i].beside);
        assert_string_equal(text, CASES[i].json);
        assert_int_equal(verdict_exit(CASES[i].verdict), CASES[i].code);
        assert_int_equal(verdict_style(CASES[i].verdict), CASES[i].style);
        free(text);
        json_decref(json);
    }
}

/* The first status of each row is the result for any two statuses of this and of later rows. */
TEST(a_failure_of_the_tool_hides_every_verdict)
{
    static const enum exit_code ORDER[] = {EXIT_BUG, EXIT_UNAVAILABLE, EXIT_INVALID,
                                           EXIT_UNKNOWN, EXIT_THRESHOLD, EXIT_VALID};
    enum { COUNT = sizeof ORDER / sizeof ORDER[0] };

    for (int a = 0; a < COUNT; a++)
        for (int b = a; b < COUNT; b++) {
            assert_int_equal(verdict_worse_exit(ORDER[a], ORDER[b]), ORDER[a]);
            assert_int_equal(verdict_worse_exit(ORDER[b], ORDER[a]), ORDER[a]);
        }
}
