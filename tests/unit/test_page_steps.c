/* SPDX-License-Identifier: MIT */
/* test_page_steps.c -- the steps of a page, and the rows of its table. */
#include "tests/registered.h"
#include "tests/unit/drawn_history.h"

TEST(every_call_and_fault_in_view_is_a_step)
{
    char *page = page_of_text(cascade);
    char *figure = figure_of(page, "exclusion");

    /* The fault began earlier, and so did a call of the first holder; the release of the third
     * owner comes later. */
    assert_int_equal(1, count_of(figure, "class=\"fault\""));
    assert_int_equal(9, count_of(figure, "<li "));
    assert_non_null(strstr(figure, "<b>fault</b> freeze ended</span>"));
    assert_non_null(strstr(figure, "<b>故障</b> 冻结 结束</span>"));
    assert_int_equal(2, count_of(figure, ">; what it breaks: "));
    assert_non_null(strstr(figure, "lease until +30.000 ms"));
    free(figure);
    free(page);
}

TEST(events_before_the_view_are_no_steps)
{
    char text[2048];
    char *page, *figure;

    snprintf(text, sizeof(text), "%s%s", cascade, "30 p1 t9 acquire a -> 55 busy\n");
    page = page_of_text(text);
    figure = figure_of(page, "exclusion");
    assert_int_equal(9 + 1, count_of(figure, "<li "));
    free(figure);
    free(page);
}

/* "unknown" and "invalid" are verdicts, too, and the Chinese of a verdict would be wrong here. */
TEST(the_chinese_of_a_status_is_not_that_of_a_verdict)
{
    char text[2048];
    char *page, *figure;

    snprintf(text, sizeof(text), "%s%s", cascade,
             "43 p1 t9 acquire a -> 55 unknown\n44 p2 t9 acquire a -> 54 invalid\n");
    page = page_of_text(text);
    figure = figure_of(page, "exclusion");
    assert_non_null(strstr(figure, "加锁的<b>结果不明</b>"));
    assert_non_null(strstr(figure, "加锁的应答是<b>参数无效</b>"));
    assert_null(strstr(figure, "无法判定"));
    free(figure);
    free(page);
}

/* The drawing has only the numbers of faults, so a text below explains each number. */
TEST(each_number_of_a_fault_is_explained_and_has_room)
{
    char text[2048];
    char *page, *figure;

    snprintf(text, sizeof(text), "%s%s", cascade,
             "45 fault wire-cut happened network pid=12\n");
    page = page_of_text(text);
    figure = figure_of(page, "exclusion");
    assert_int_equal(2, count_of(figure, "<g class=\"fault\">"));
    assert_int_equal(1, count_of(figure, "<ol class=\"faults\">\n<li>+4.000 ms"));
    /* Two lines at one place have two numbers at two places. */
    assert_int_equal(2, count_of(figure, "<line x1=\"311.47\" y1=\"22\" x2=\"311.47\""));
    assert_non_null(strstr(figure, "<text x=\"311.47\" y=\"16\">1<title data-en=\"freeze\""));
    assert_non_null(strstr(figure, "<text x=\"323.47\" y=\"16\">2<title data-en=\"wire-cut\""));
    free(figure);
    free(page);
}

TEST(every_hold_is_a_row_of_the_table)
{
    char *page = page_of_text(
        "system p1 pid=11 caps=exclusive,expires,fenced variant=fenced lease=30\n"
        "10 p1 t1 acquire a -> 11 ok until=40 fence=33\n"
        "12 p1 t1 release a -> 13 ok\n"
        "14 p1 t2 acquire a -> 15 ok until=45 fence=34\n"
        "16 p1 t2 release a -> 17 ok\n");

    assert_int_equal(2, count_of(page, "<tr><td>pid 11, p1:"));
    assert_int_equal(1, count_of(page, "<td>33</td></tr>"));
    assert_int_equal(1, count_of(page, "<td>34</td></tr>"));
    free(page);
}

/* As in a performance: an act begins before its commands are sent, and is known to be done after
 * the last answer. */
static char *steps_of(const struct page_line *lines, size_t count)
{
    struct page_scene *scene = calloc(1, sizeof(*scene));
    char *text = NULL;
    size_t size;
    FILE *out = open_memstream(&text, &size);

    assert_true(scene != NULL && out != NULL);
    scene->to_ns = 10000000;
    scene->lines = lines;
    scene->line_count = count;
    page_lines(out, scene);
    fclose(out);
    free(scene);
    return text;
}

TEST(an_act_stands_above_its_own_commands)
{
    static const struct page_line lines[] = {
        {0, 0, false, "told", "Ann wants to buy.", "Zh"},
        {1000000, 4000000, false, "act", "Ann acquires: ok", NULL},
        {2000000, 2000000, true, "Ann", "-> redis: SET a <b> NX", NULL},
        {3000000, 3000000, true, "Ann", "<- redis: OK", NULL},
        {5000000, 7000000, false, "act", "Ann reads: 1", NULL},
        {6000000, 6000000, true, "Ann", "-> postgres: SELECT", NULL},
    };
    char *steps = steps_of(lines, sizeof(lines) / sizeof(lines[0]));
    const char *order[] = {"Ann wants",  "Ann acquires",   "SET a &lt;b&gt; NX",
                           "&lt;- redis", "Ann reads", "SELECT"};
    const char *at = steps;

    assert_int_equal(3, count_of(steps, "<li data-x="));
    for (size_t i = 0; i < sizeof(order) / sizeof(order[0]); i++) {
        at = strstr(at, order[i]);
        assert_non_null(at);
    }
    /* The cursor stands at the end of the act, so that nothing hides its answer. */
    assert_non_null(strstr(steps, "<li data-x=\"447.00\" class=\"act\">"
                                  "<span class=\"en\" lang=\"en\">+1.000 ms to +4.000 ms"));
    assert_non_null(strstr(steps, "<span class=\"zh\" lang=\"zh-CN\">Zh</span>"));
    free(steps);
}
