/* SPDX-License-Identifier: MIT */
/* test_check_stories.c -- judges the histories in tests/histories.  The name of each is its story.
 * Its first line is the expected result: "# expect VERDICT PROPERTY ASSUMPTION", with "-" for a
 * word that does not apply.  A line "# only" says that no other property is broken. */
#include <glob.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "loadtest/check/check.h"
#include "loadtest/kit/files.h"
#include "lock/record/recorder.h"
#include "tests/registered.h"

/* The times in the stories are small numbers, so the tolerances are small too. */
enum { SLACK = 5, PATIENCE = 50, LINGER = 20, BAD_MIN = 60 };

static size_t property_of(const char *name)
{
    for (size_t i = 0; i < CHECK_COUNT; i++)
        if (strcmp(name, check_property_name(i)) == 0)
            return i;
    return CHECK_COUNT;
}

static const char *judge(const struct history *h, struct check_verdict *verdict)
{
    struct check_options options = {
        .slack_ns = SLACK, .patience_ns = PATIENCE, .linger_ns = LINGER};
    struct check *c = check_new();

    check_judge(c, h, &options, verdict);
    check_free(c);
    return verdict_name(verdict->valid);
}

/* Is any other property broken? */
static bool has_others(const struct check_verdict *verdict, size_t property)
{
    for (size_t i = 0; i < CHECK_COUNT; i++)
        if (i != property && verdict->findings[i].count > 0)
            return true;
    return false;
}

/* NULL if the result is as expected. */
static const char *flaw_of(const char *text, char *flaw, size_t size)
{
    char valid[16], property[16], assumption[16];
    struct check_verdict verdict;
    struct history h = {0};
    const struct check_finding *finding;

    if (sscanf(text, "# expect %15s %15s %15s", valid, property, assumption) != 3) {
        snprintf(flaw, size, "it does not say what to expect");
        return flaw;
    }
    if (!history_parse(&h, text, flaw, size)) {
        history_free(&h);
        return flaw;
    }
    flaw[0] = '\0';
    if (strcmp(valid, judge(&h, &verdict)) != 0)
        snprintf(flaw, size, "%s, not %s", verdict_name(verdict.valid), valid);
    if (flaw[0] == '\0' && strcmp(property, "-") != 0) {
        finding = &verdict.findings[property_of(property)];
        if (finding->count == 0)
            snprintf(flaw, size, "%s was not found violated", property);
        else if (strcmp(assumption,
                        dlock_assumption_name(finding->examples[0].assumption)) != 0)
            snprintf(flaw, size, "explained by %s, not %s",
                     dlock_assumption_name(finding->examples[0].assumption),
                     assumption);
    }
    if (flaw[0] == '\0' && strstr(text, "\n# only\n") != NULL &&
        has_others(&verdict, property_of(property)))
        snprintf(flaw, size, "not only %s was found violated", property);
    for (size_t i = 0; i < CHECK_COUNT && flaw[0] != '\0'; i++)
        if (verdict.findings[i].count > 0)
            printf("#   %s: %s (%s)\n", check_property_name(i),
                   verdict.findings[i].examples[0].text,
                   dlock_assumption_name(verdict.findings[i].examples[0].assumption));
    history_free(&h);
    return flaw[0] != '\0' ? flaw : NULL;
}

/* Judge every story of a folder. Returns the number of stories. */
static size_t judge_all(const char *folder)
{
    char path[FILES_PATH_MAX], pattern[FILES_PATH_MAX], flaw[256];
    size_t flawed_count = 0, count;
    glob_t found;

    assert_true(files_find_data(path, "tests/histories"));
    files_path(pattern, "%s/%s/*.txt", path, folder);
    assert_int_equal(0, glob(pattern, 0, NULL, &found));
    for (size_t i = 0; i < found.gl_pathc; i++) {
        char *text = files_read(found.gl_pathv[i], &count);

        assert_non_null(text);
        if (flaw_of(text, flaw, sizeof(flaw)) != NULL) {
            printf("# %s: %s\n", strrchr(found.gl_pathv[i], '/') + 1, flaw);
            flawed_count++;
        }
        free(text);
    }
    count = found.gl_pathc;
    globfree(&found);
    assert_int_equal(0, flawed_count);
    return count;
}

TEST(every_bad_history_is_rejected_for_its_reason)
{
    size_t count = judge_all("bad");

    printf("# %zu bad histories\n", count);
    assert_in_range(count, BAD_MIN, 1000);
}

TEST(every_good_history_is_accepted)
{
    assert_in_range(judge_all("good"), 15, 1000);
}

TEST(what_cannot_be_told_is_unknown)
{
    assert_in_range(judge_all("unknown"), 8, 1000);
}

TEST(every_property_is_violated_by_some_story)
{
    char path[FILES_PATH_MAX], pattern[FILES_PATH_MAX];
    bool is_met[CHECK_COUNT + 1] = {false};
    char property[16];
    glob_t found;

    is_met[CHECK_resource] = true; /* needs the log of the resource, which the tests below have */
    is_met[CHECK_orders] = true;   /* the same */
    assert_true(files_find_data(path, "tests/histories"));
    files_path(pattern, "%s/bad/*.txt", path);
    assert_int_equal(0, glob(pattern, 0, NULL, &found));
    for (size_t i = 0; i < found.gl_pathc; i++) {
        size_t size;
        char *text = files_read(found.gl_pathv[i], &size);

        assert_int_equal(1, sscanf(text, "# expect invalid %15s", property));
        is_met[property_of(property)] = true;
        free(text);
    }
    globfree(&found);
    for (size_t i = 0; i < CHECK_COUNT; i++)
        if (!is_met[i])
            fail_msg("no story violates %s", check_property_name(i));
}

TEST(every_property_has_its_place_in_the_rules)
{
    char path[FILES_PATH_MAX], heading[64];
    const char *at;
    char *text;

    assert_true(files_find_data(path, "docs/explanation/how-histories-are-judged.md"));
    text = files_read(path, NULL);
    assert_non_null(text);
    at = text;
    for (size_t i = 0; i < CHECK_COUNT; i++) {
        snprintf(heading, sizeof(heading), "\n### %s", check_property_name(i));
        at = strstr(at, heading); /* behind the heading before it */
        if (at == NULL)
            fail_msg("the rules lack %s, or have it elsewhere", check_property_name(i));
    }
    free(text);
}

TEST(the_resource_is_judged_by_its_own_log)
{
    static const char text[] = "10 p1 t1 acquire a -> 11 ok until=40\n"
                               "20 p1 t1 release a -> 21 ok\n";
    struct check_write writes[] = {{.fence = 33, .is_accepted = true},
                                   {.fence = 34, .is_accepted = true},
                                   {.fence = 33}};
    struct check_options options = {.writes = writes, .write_count = 3};
    struct check *c = check_new();
    struct check_verdict verdict;
    struct history h = {0};
    char error[128];

    assert_true(history_parse(&h, text, error, sizeof(error)));
    check_judge(c, &h, &options, &verdict);
    assert_int_equal(VERDICT_VALID, verdict.valid);
    writes[1].fence = 33; /* a write of the same holder again; and now it is not stale */
    writes[2].is_accepted = true;
    check_judge(c, &h, &options, &verdict);
    assert_int_equal(0, verdict.findings[CHECK_resource].count);
    writes[2].is_accepted = false;
    check_judge(c, &h, &options, &verdict);
    assert_int_equal(1, verdict.findings[CHECK_resource].count);
    writes[1].fence = 34;
    writes[2].is_accepted = true; /* a stale write was accepted */
    check_judge(c, &h, &options, &verdict);
    assert_int_equal(1, verdict.findings[CHECK_resource].count);
    writes[2] = (struct check_write){.fence = 35}; /* a current write was refused */
    check_judge(c, &h, &options, &verdict);
    assert_int_equal(1, verdict.findings[CHECK_resource].count);
    history_free(&h);
    check_free(c);
}

/* Two writes with the fences 33 and 34 on a stock of 5, and a write that came too late. */
static struct check_write tale_writes[] = {
    {.fence = 33, .is_accepted = true, .sets_fence = true, .position = 1, .voucher = 7,
     .request = "a"},
    {.fence = 34, .is_accepted = true, .sets_fence = true, .position = 2, .voucher = 7,
     .request = "b"},
    {.fence = 33, .sets_fence = true, .position = 3, .voucher = 7, .request = "c"},
};

static int64_t odd_in_tale(struct check_voucher voucher, const char *first,
                           const char *second, size_t write_count)
{
    static const char text[] = "10 p1 t1 acquire a -> 11 ok until=40\n"
                               "20 p1 t1 release a -> 21 ok\n";
    struct audit_order orders[] = {{.voucher = 7, .request = first},
                                   {.voucher = 7, .request = second}};
    struct check_options options = {.writes = tale_writes,
                                    .write_count = write_count,
                                    .vouchers = &voucher,
                                    .voucher_count = 1,
                                    .orders = orders,
                                    .order_count = second != NULL ? 2 : 1};
    struct check *c = check_new();
    struct check_verdict verdict;
    struct history h = {0};
    char error[128];

    assert_true(history_parse(&h, text, error, sizeof(error)));
    check_judge(c, &h, &options, &verdict);
    history_free(&h);
    check_free(c);
    assert_true(verdict.findings[CHECK_orders].is_claimed);
    assert_true((verdict.findings[CHECK_orders].count > 0) ==
                (verdict.valid == VERDICT_INVALID));
    return verdict.findings[CHECK_orders].count;
}

TEST(orders_and_the_log_tell_one_story)
{
    struct check_voucher good = {.id = 7, .issued = 5, .left = 3, .fence = 34};
    struct check_voucher lost = {.id = 7, .issued = 5, .left = 4, .fence = 34};
    struct check_voucher old = {.id = 7, .issued = 5, .left = 3, .fence = 33};

    assert_int_equal(0, odd_in_tale(good, "a", "b", 3));
    assert_int_equal(1, odd_in_tale(lost, "a", "b", 3)); /* an update was lost */
    assert_int_equal(1, odd_in_tale(old, "a", "b", 3));  /* the fence was not kept */
    /* A write was accepted without an order. */
    assert_int_equal(1, odd_in_tale(good, "a", NULL, 3));
    /* A write was refused, and there is an order. */
    assert_int_equal(2, odd_in_tale(good, "a", "c", 3));
    assert_int_equal(3, odd_in_tale(good, "a", "b", 1)); /* an order without an accepted write */
    tale_writes[1].request = "a";
    assert_int_equal(2, odd_in_tale(good, "a", "b", 3)); /* one request was accepted twice */
    tale_writes[1].request = "b";
}

TEST(a_text_that_makes_no_sense_is_refused_with_its_line)
{
    static const char *const texts[] = {
        "x p1 t1 acquire a -> 11 ok", "10 q1 t1 acquire a -> 11 ok",
        "10 p1 x1 acquire a -> 11 ok", "10 p1 t1 take a -> 11 ok",
        "10 p1 t1 acquire a 11 ok", "10 p1 t1 acquire a -> x ok",
        "10 p1 t1 acquire a -> 11 fine", "10 p1 t1 acquire a -> 11 ok colour=3",
        "10 p1 t1 acquire a -> 9 ok",
        "10 p1 t1 acquire a -> 11 ok fence=-1", "system p1 pid=-1", "system p1 dropped=@3",
        "10 fault", "system p1 caps=strong", "system p1 colour=red",
        "10 p1 t1 acquire a -> 11 ok until=30 until=90",
        "10 p1 t1 acquire a -> 11 ok shared shared", "system p1 pid=1 lease=3 pid=2",
        "10 fault freeze begun ended", "10 fault freeze begun pid=1 pid=2",
        "10 p1 t1 acquire a -> 11 ok until=9", "10 p1 t1 renew a -> 11 ok until=9",
        "10 p1 t1 acquire a -> 11 ok until=0", "10 p1 t1 renew a -> 11 ok until=0"};
    char text[128], error[128];

    for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
        struct history h = {0};

        snprintf(text, sizeof(text), "# one\n%s\n", texts[i]);
        assert_false(history_parse(&h, text, error, sizeof(error)));
        assert_non_null(strstr(error, "line 2: "));
        history_free(&h);
    }
}

static bool parses(const char *text, const char *error_line)
{
    struct history h = {0};
    char error[128] = "";
    bool ok = history_parse(&h, text, error, sizeof(error));

    if (!ok)
        assert_non_null(strstr(error, error_line));
    history_free(&h);
    return ok;
}

TEST(a_process_writes_nothing_after_it_was_killed)
{
    assert_true(parses("system p1 killed=50\n10 p1 t1 acquire a -> 50 ok\n", ""));
    assert_false(parses("system p1 killed=50\n10 p1 t1 acquire a -> 51 ok\n", "line 2: "));
    assert_false(parses("system p1 killed=50\n10 p1 t1 acquire a -> 11 ok\n"
                        "60 p1 t1 release a -> ?\n70 p2 t1 acquire a -> 71 ok\n", "line 3: "));
    assert_false(parses("60 p1 t1 wait a\nsystem p1 killed=50\n", "line 1: "));
    assert_false(parses("60 p1 t1 abandon a\nsystem p1 killed=50\n", "line 1: "));
}

/* A grant may be heard of after its lease, and a permit ends by the wall clock. */
TEST(an_early_end_that_a_recorder_can_write_is_accepted)
{
    assert_true(parses("10 p1 t1 acquire a -> 50 ok until=10\n", ""));
    assert_true(parses("10 p1 t1 acquire a -> 50 busy until=20\n", ""));
    assert_true(parses("10 p1 t1 permit-take s -> 11 ok id=7 until=9\n", ""));
}

static enum verdict judge_only(const char *text, enum check_property property)
{
    struct check_options options = check_options_default();
    struct check *c = check_new();
    struct check_verdict verdict;
    struct history h = {0};
    char error[128];

    assert_true(history_parse(&h, text, error, sizeof(error)));
    options.only = 1u << property;
    check_judge(c, &h, &options, &verdict);
    assert_true((verdict.valid == VERDICT_UNKNOWN) == (verdict.why_unknown != NULL));
    check_free(c);
    history_free(&h);
    return verdict.valid;
}

TEST(one_property_without_a_case_is_unknown)
{
    static const char text[] = "10 p1 t1 acquire a -> 11 ok until=40\n"
                               "20 p1 t1 release a -> 21 ok\n";

    assert_int_equal(VERDICT_VALID, judge_only(text, CHECK_exclusion));
    assert_int_equal(VERDICT_UNKNOWN, judge_only(text, CHECK_fence));
    assert_int_equal(VERDICT_UNKNOWN, judge_only(text, CHECK_permits));
    assert_int_equal(VERDICT_UNKNOWN, judge_only(text, CHECK_refusal));
    assert_int_equal(VERDICT_UNKNOWN, judge_only(text, CHECK_orders));
}

TEST(lines_may_end_as_windows_ends_them)
{
    struct history h = {0};
    char error[128] = "";

    assert_true(history_parse(&h, "# one\r\n\r\n10 p1 t1 acquire a -> 11 ok\r\n12 p1 t1 lost a\r\n"
                                  "13 p1 t1 abandon b\r", error, sizeof(error)));
    assert_int_equal(2, h.call_count);
    assert_int_equal(1, h.mark_count);
    assert_int_equal(h.calls[0].name, h.marks[0].name);
    assert_true(history_find_name(&h, "b") >= 0);
    history_free(&h);
}
