/* SPDX-License-Identifier: MIT */
/* test_page_words.c -- every text of a page exists in Chinese, too. */
#include <glob.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "loadtest/check/check.h"
#include "loadtest/kit/files.h"
#include "loadtest/page/words.h"
#include "loadtest/scenario/catalogue.h"
#include "lock/record/recorder.h"
#include "tests/registered.h"

/* Has the text a Chinese character, which has three bytes in UTF-8 that begin like this? */
static bool is_chinese(const char *text)
{
    return strpbrk(text, "\xe4\xe5\xe6\xe7\xe8\xe9") != NULL;
}

/* Print a message that has no Chinese text. Returns the number of such messages. */
static int lacks(const char *english)
{
    char chinese[PAGE_PHRASE_MAX];

    if (page_chinese(english, chinese) && is_chinese(chinese))
        return 0;
    printf("# no Chinese: %s\n", english);
    return 1;
}

TEST(every_property_and_assumption_has_its_chinese)
{
    int missing = 0;

    for (size_t i = 0; i < CHECK_COUNT; i++)
        missing += lacks(check_property_name(i)) + lacks(check_property_text(i));
    for (int i = 0; i < DLOCK_ASSUMPTION_COUNT; i++)
        missing += lacks(dlock_assumption_text(i));
    for (int i = DLOCK_EVENT_ACQUIRE; i <= DLOCK_EVENT_LATCH_DELETE; i++)
        missing += i != DLOCK_EVENT_FAULT ? lacks(dlock_event_name(i)) : 0;
    for (int i = 0; i < VERDICT_COUNT; i++)
        missing += lacks(verdict_name((enum verdict)i)) +
                   lacks(verdict_beside_expectation((enum verdict)i));
    assert_int_equal(0, missing);
}

TEST(every_scenario_has_its_chinese)
{
    int missing = 0;

    for (size_t i = 0; scenario_at(i) != NULL; i++) {
        const struct scenario *scenario = scenario_at(i);

        missing += lacks(scenario->source);
        missing += scenario->published != NULL ? lacks(scenario->published) : 0;
    }
    for (int i = 0; i < SCENARIO_OUTCOME_COUNT; i++)
        missing += lacks(scenario_outcome_name((enum scenario_outcome)i, false));
    for (int i = 0; i < SIGN_COUNT; i++)
        missing += lacks(scenario_sign_name(i, false));
    assert_int_equal(0, missing);
}

static void look_at_finding(void *arg, enum check_property property,
                            const struct check_example *example)
{
    (void)property;
    *(int *)arg += lacks(example->text);
}

/* Judge all histories of the tests, bad and unknown ones, and look at their findings and gaps. */
static int judge_all(const char *folder)
{
    char path[FILES_PATH_MAX], pattern[FILES_PATH_MAX], error[128];
    int missing = 0;
    glob_t found;

    assert_true(files_find_data(path, "tests/histories"));
    files_path(pattern, "%s/%s/*.txt", path, folder);
    assert_int_equal(0, glob(pattern, 0, NULL, &found));
    for (size_t i = 0; i < found.gl_pathc; i++) {
        struct check_options options = check_options_default();
        char *text = files_read(found.gl_pathv[i], NULL);
        struct check *c = check_new();
        struct check_verdict verdict;
        struct history h = {0};

        options.each = look_at_finding;
        options.arg = &missing;
        options.slack_ns = 5;
        options.patience_ns = 50;
        options.linger_ns = 20;
        assert_true(history_parse(&h, text, error, sizeof error));
        check_judge(c, &h, &options, &verdict);
        for (size_t d = 0; d < h.damage_count; d++)
            missing += lacks(h.damages[d]);
        missing += verdict.why_unknown != NULL ? lacks(verdict.why_unknown) : 0;
        history_free(&h);
        check_free(c);
        free(text);
    }
    assert_true(found.gl_pathc > 0);
    globfree(&found);
    return missing;
}

TEST(every_finding_has_its_chinese)
{
    assert_int_equal(0, judge_all("bad") + judge_all("unknown"));
}

TEST(what_stands_in_a_message_is_said_in_chinese_too)
{
    char chinese[PAGE_PHRASE_MAX];

    assert_true(page_chinese("fence 7 was given out after 12", chinese));
    assert_string_equal("栅栏令牌 12 之后发出了 7", chinese);
    assert_true(page_chinese("it does not show: two holders", chinese));
    assert_string_equal("没有看到：同时两个持有者", chinese);
    assert_true(page_chinese("Ann, pid 7, 1a2b3c4d:3", chinese));
    assert_string_equal("小安，进程 7，1a2b3c4d:3", chinese);
    assert_true(page_chinese("the record of process p2 (pid 7) is missing: run.json says 2 "
                             "processes, 1 file was found", chinese));
    assert_string_equal("缺少进程 p2（pid 7）的记录：run.json 有 2 个进程，找到 1 个文件", chinese);
}

TEST(what_is_no_message_stays_as_it_is)
{
    char chinese[PAGE_PHRASE_MAX], text[2 * PAGE_PHRASE_MAX];

    assert_false(page_chinese("pid 7, 1a2b3c4d:3", chinese));
    assert_string_equal("pid 7, 1a2b3c4d:3", chinese);
    assert_false(page_chinese("", chinese));
    assert_string_equal("", chinese);
    /* A text that is too long is cut at a whole character. */
    memset(text, 'x', sizeof text);
    for (size_t i = 1; i + 3 < sizeof text; i += 3)
        memcpy(text + i, "锁", 3);
    text[sizeof text - 1] = '\0';
    assert_false(page_chinese(text, chinese));
    assert_true(strlen(chinese) < PAGE_PHRASE_MAX && strlen(chinese) % 3 == 1);
}

TEST(tags_in_what_is_put_in_are_text)
{
    char *text = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&text, &size);

    page_say(out, SEED, "<script>&\"");
    fclose(out);
    assert_null(strstr(text, "<script>"));
    assert_string_equal("<span class=\"en\" lang=\"en\">seed &lt;script&gt;&amp;&quot;: </span>"
                        "<span class=\"zh\" lang=\"zh-CN\">随机种子 &lt;script&gt;&amp;&quot;：</span>",
                        text);
    free(text);
}
