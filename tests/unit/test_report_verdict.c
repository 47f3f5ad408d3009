/* SPDX-License-Identifier: MIT */
/* test_report_verdict.c -- the first sentence of a report has the verdict of the run's own files
 * about its cells, even if the runs of a cell look better than its outcome. */
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "loadtest/report/report.h"
#include "tests/registered.h"

static const char begin_of_verdict[] = "<p class=\"verdict ";

/* Make the report of one run, or of two, and check its sentence. Frees the runs and the page. */
static void expect(json_t *a, json_t *b, const char *sentence, const char *text)
{
    struct run_data data[2] = {{.json = a}, {.json = b}};
    char *page = NULL, *at, *end;
    size_t size = 0;
    FILE *out = open_memstream(&page, &size);

    assert_non_null(a);
    assert_non_null(out);
    report_print(out, &data[0], b ? &data[1] : NULL);
    assert_int_equal(fclose(out), 0);
    if (text && !strstr(page, text))
        fail_msg("the page has no \"%s\"", text);
    at = strstr(page, begin_of_verdict);
    assert_non_null(at);
    end = strstr(at, "</p>");
    assert_non_null(end);
    *end = '\0';
    if (!strstr(at, sentence))
        fail_msg("\"%s\" is not in the verdict: %s", sentence, at);
    free(page);
    run_data_free(&data[0]);
    run_data_free(&data[1]);
}

/* A sale whose audit left this verdict. */
static json_t *sale(json_t *verdict)
{
    return json_pack("{s:i, s:s, s:{s:{s:{s:o}}}}", "format", 1, "kind", "load", "results",
                     "runs", ".", "verdict", verdict);
}

/* The verdict of a sale with this result, of which the check `name` has the same result. */
static json_t *verdict_of(json_t *valid, int unsure, const char *name)
{
    return json_pack("{s:O, s:i, s:i, s:i, s:{s:{s:o, s:i}}}", "valid", valid, "issued", 0,
                     "orders", 0, "unsure", unsure, "checks", name, "valid", valid, "count", 0);
}

TEST(an_unknown_sale_names_what_is_not_known)
{
    expect(sale(verdict_of(json_null(), 0, "nothing-sold")), NULL,
           "? Unknown: the evidence of the run is not sufficient to judge nothing-sold.",
           "证据不足以判断 nothing-sold");
    expect(sale(verdict_of(json_null(), 3, "phantom-untold")), NULL,
           "? Unknown: 3 requests had no answer", NULL);
    expect(sale(verdict_of(json_false(), 0, "told-twice")), NULL,
           "✗ Invalid: the audit found told-twice.", NULL);
}

TEST(a_sale_is_sound_only_with_its_evidence)
{
    static const char *const parts[] = {"issued", "orders", "checks"};

    expect(sale(verdict_of(json_true(), 0, "oversold")), NULL, "✓ Sound: 0 orders", NULL);
    for (size_t i = 0; i < sizeof parts / sizeof parts[0]; i++) {
        json_t *verdict = verdict_of(json_true(), 0, "oversold");

        assert_int_equal(json_object_del(verdict, parts[i]), 0);
        expect(sale(verdict), NULL, "? No verdict: the data of the audit lacks", NULL);
    }
}

/* A cell of a comparison whose runs have these outcomes, separated by commas. */
static json_t *cell(const char *lock, const char *outcome, const char *runs)
{
    json_t *list = json_array();
    char word[32];

    for (; *runs; runs += strcspn(runs, ","), runs += *runs == ',') {
        (void)snprintf(word, sizeof word, "%.*s", (int)strcspn(runs, ","), runs);
        json_array_append_new(list, json_pack("{s:s, s:f}", "outcome", word, "orders_per_s", 9.0));
    }
    return json_pack("{s:s, s:s, s:s, s:s, s:o}", "experiment", "oversell", "hazard", "calm",
                     "lock", lock, "outcome", outcome, "runs", list);
}

/* A comparison with a sound cell and a cell of this outcome. */
static json_t *comparison(const char *outcome, const char *runs)
{
    return json_pack("{s:i, s:s, s:{s:{s:[o, o]}}}", "format", 1, "kind", "compare", "results",
                     "summary", "cells", cell("lua", "as expected", "sound"),
                     cell("none", outcome, runs));
}

TEST(the_outcome_of_a_cell_counts_and_not_its_worst_run)
{
    static const struct {
        const char *outcome, *runs, *sentence;
    } cases[] = {
        {"as expected", "sound", "✓ All 2 cells are as expected: 2 sound, 0 broken"},
        {"as expected", "broken,broken", "✓ All 2 cells are as expected: 1 sound, 1 broken"},
        {"unknown", "unknown", "? Unknown: 1 of 2 cells; the others are as expected."},
        {"unknown", "broken,unknown,broken", "? Unknown: 1 of 2 cells"},
        {"unknown", "sound,unknown", "? Unknown: 1 of 2 cells"},
        {"no expectation", "sound", "? Unknown: 1 of 2 cells"},
        {"no expectation", "broken", "? Unknown: 1 of 2 cells"},
        {"not done", "", "? Not done: 1 of 2 cells."},
        {"not done", "sound", "? Not done: 1 of 2 cells."},
        {"not done", "broken,broken", "? Not done: 1 of 2 cells."},
        {"UNEXPECTED", "sound,unknown", "✗ Not as expected: 1 of 2 cells."},
        {"UNEXPECTED", "wrong", "✗ Not as expected: 1 of 2 cells."},
        {"", "sound", "? Unknown: 1 of 2 cells"},
    };

    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++)
        expect(comparison(cases[i].outcome, cases[i].runs), NULL, cases[i].sentence, NULL);
}

TEST(a_comparison_that_was_cut_short_with_an_unknown_cell_says_both)
{
    json_t *run = comparison("unknown", "broken,unknown");
    json_t *cells = json_object_get(
        json_object_get(json_object_get(run, "results"), "summary"), "cells");

    json_array_append_new(cells, cell("naive", "not done", "sound"));
    expect(run, NULL, "? Unknown: 1 of 3 cells, and 1 not done; the others are as expected.",
           NULL);
}

TEST(the_table_shows_why_a_cell_counts_as_it_does)
{
    expect(comparison("unknown", "broken,unknown"), NULL, "? Unknown",
           "✗ 丢失更新</span></span> <b class=\"doubt\"><span class=\"en\" lang=\"en\">? unknown");
    expect(comparison("not done", "sound"), NULL, "? Not done", "<b class=\"doubt\">");
    expect(comparison("UNEXPECTED", "broken"), NULL, "✗ Not", "<b class=\"bad\">");
}

TEST(two_runs_differ_if_the_outcomes_of_a_cell_do)
{
    static const char *const outcomes[] = {"unknown", "not done", "UNEXPECTED", "no expectation"};

    for (size_t i = 0; i < sizeof outcomes / sizeof outcomes[0]; i++) {
        expect(comparison("as expected", "broken,broken"),
               comparison(outcomes[i], "broken,unknown"), "1 of 2 verdicts differ",
               "data-same=\"no\"");
        expect(comparison(outcomes[i], "broken,unknown"),
               comparison(outcomes[i], "broken,unknown"), "data-same=\"yes\"", NULL);
    }
}

/* A matrix of two cells of three seeds each; `done` seeds of the second cell are done. */
static json_t *matrix(int done, const char *verdict)
{
    json_t *runs = json_array(), *all = json_array();

    for (int i = 0; i < 3; i++)
        json_array_append_new(all, json_pack("{s:s}", "outcome", "holds"));
    for (int i = 0; i < done; i++)
        json_array_append_new(runs, json_pack("{s:s}", "outcome", "holds"));
    return json_pack("{s:i, s:s, s:{s:{s:[{s:s, s:s, s:s, s:i, s:o}, {s:s, s:s, s:s, s:i, s:o}]}}}",
                     "format", 1, "kind", "matrix", "results", "matrix", "cells", "scenario",
                     "check-gap", "lock", "lua", "verdict", "as expected", "planned", 3, "runs",
                     all, "scenario", "check-gap", "lock", "naive", "verdict", verdict, "planned",
                     3, "runs", runs);
}

TEST(a_cell_of_a_matrix_is_done_when_all_its_seeds_are)
{
    expect(matrix(3, "as expected"), NULL, "✓ All 2 performances have the expected outcome", NULL);
    expect(matrix(2, "as expected"), NULL, "? Did not happen: 1 of 2 performances",
           "– not done");
    expect(matrix(0, "not done"), NULL, "? Did not happen: 1 of 2 performances", "– not done");
    expect(matrix(2, "unknown"), NULL, "? Did not happen: 1 of 2 performances", "? unknown");
    expect(matrix(2, "UNEXPECTED"), NULL, "✗ Not as expected: 1 of 2 performances.", NULL);
    expect(matrix(3, "as expected"), matrix(1, "as expected"), "1 of 2 verdicts differ",
           "– not done");
}

/* A matrix of one cell, whose seeds ended so. */
static json_t *seeds(const char *verdict, const char *const runs[][2], size_t count)
{
    json_t *list = json_array();

    for (size_t i = 0; i < count; i++)
        json_array_append_new(list, json_pack("{s:s, s:s*}", "verdict", runs[i][0], "outcome",
                                              runs[i][1]));
    return json_pack("{s:i, s:s, s:{s:{s:[{s:s, s:s, s:s, s:i, s:o}]}}}", "format", 1, "kind",
                     "matrix", "results", "matrix", "cells", "scenario", "check-gap", "lock", "lua",
                     "verdict", verdict, "planned", (int)count, "runs", list);
}

TEST(a_cell_of_a_matrix_has_the_outcome_of_its_worst_seed)
{
    static const char *const broken[][2] = {
        {"as expected", "holds"}, {"unknown", NULL}, {"UNEXPECTED", "breaks"}},
                             *const unknown[][2] = {{"as expected", "holds"}, {"unknown", NULL}};

    expect(seeds("UNEXPECTED", broken, 3), NULL, "✗ Not as expected",
           "✗ <span class=\"en\" lang=\"en\">breaks</span>");
    expect(seeds("unknown", unknown, 2), NULL, "? Did not happen", "? -");
}
