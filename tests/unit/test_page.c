/* SPDX-License-Identifier: MIT */
/* test_page.c -- the contents of the HTML timeline, and its limits; the steps of a page, and the
 * rows of its table. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "loadtest/page/page.h"
#include "tests/registered.h"

#define HOLD "<rect class=\"hold\""
#define LATE "<rect class=\"late\""

/* A lock after the end of its lease: the second and the third owner hold it at once. */
static const char cascade[] =
    "system p1 pid=11 caps=exclusive,expires variant=naive lease=30\n"
    "system p2 pid=12 caps=exclusive,expires variant=naive lease=30\n"
    "system p3 pid=13 caps=exclusive,expires variant=naive lease=30\n"
    "10 p1 t1 acquire a -> 11 ok until=40\n"
    "20 fault freeze begun process pid=11\n"
    "41 p2 t2 acquire a -> 42 ok until=71\n"
    "45 fault freeze ended process pid=11\n"
    "50 p1 t1 release a -> 51 ok\n"
    "52 p3 t3 acquire a -> 53 ok until=82\n"
    "60 p2 t2 release a -> 61 ok\n"
    "70 p3 t3 release a -> 71 ok\n";

static void add_hostile_name(struct history *h, const char *name)
{
    struct history_call *call = history_add_call(h);
    struct history_process *process;

    process = history_add_process(h);
    snprintf(process->uuid, sizeof(process->uuid), "<b>\"&'");
    call->kind = DLOCK_EVENT_ACQUIRE;
    call->is_answered = true;
    call->name = history_name(h, name, strlen(name));
    call->answer_ns = 1;
    call->deadline_ns = 20;
    history_damage(h, "torn: %s", name);
    history_sort(h);
}

/* Judge the history and print its page. The caller frees the text. */
static char *page_of_judged(const struct history *h, const struct check_options *options)
{
    struct check *c = check_new();
    struct check_verdict verdict;
    char *text = NULL;
    size_t size;
    FILE *out = open_memstream(&text, &size);

    check_judge(c, h, options, &verdict);
    page_print(out, h, c, &verdict);
    fclose(out);
    check_free(c);
    return text;
}

static char *page_of(const struct history *h)
{
    struct check_options options = check_options_default();

    return page_of_judged(h, &options);
}

static char *page_of_text(const char *text)
{
    struct history h = {0};
    char error[128];
    char *page;

    assert_true(history_parse(&h, text, error, sizeof(error)));
    history_scale(&h, 1000000);
    page = page_of(&h);
    history_free(&h);
    return page;
}

static int count_of(const char *text, const char *what)
{
    int count = 0;

    while ((text = strstr(text, what)) != NULL) {
        count++;
        text += strlen(what);
    }
    return count;
}

/* The figure of one property; the caller frees it. */
static char *figure_of(const char *page, const char *property)
{
    char mark[64];
    const char *from, *to;

    snprintf(mark, sizeof(mark), "data-property=\"%s\"", property);
    from = strstr(page, mark);
    assert_non_null(from);
    to = strstr(from, "</section>");
    assert_non_null(to);
    return strndup(from, (size_t)(to - from));
}

TEST(a_violation_names_its_two_holders_and_no_other)
{
    char *page = page_of_text(cascade);
    char *figure = figure_of(page, "exclusion");

    assert_int_equal(2, count_of(figure, "class=\"holder\""));
    assert_int_equal(2, count_of(figure, "class=\"lane actor\""));
    assert_non_null(strstr(figure, "<dd class=\"holder\">pid 12, p2:2</dd>"));
    assert_non_null(strstr(figure, "<dd class=\"holder\">pid 13, p3:3</dd>"));
    assert_non_null(strstr(figure, "no two owners were granted a lock"));
    assert_int_equal(1, count_of(figure, "class=\"window\""));
    assert_int_equal(1, count_of(figure, "class=\"both\""));
    free(figure);
    free(page);
}

TEST(there_is_a_bar_for_each_hold_in_the_window)
{
    char *page = page_of_text(cascade);
    char *figure = figure_of(page, "exclusion");

    assert_int_equal(3, count_of(figure, HOLD));
    assert_int_equal(1, count_of(figure, LATE));
    free(figure);
    free(page);
}

TEST(a_hold_outside_the_window_has_no_bar)
{
    char text[2048];
    char *page, *figure;

    snprintf(text, sizeof(text), "%s%s", cascade,
             "500 p1 t1 acquire a -> 501 ok until=530\n"
             "510 p1 t1 release a -> 511 ok\n"
             "55 p1 t9 acquire other -> 56 ok until=85\n"
             "57 p1 t9 release other -> 58 ok\n");
    page = page_of_text(text);
    figure = figure_of(page, "exclusion");
    assert_int_equal(3, count_of(figure, HOLD));
    free(figure);
    free(page);
}

TEST(a_fault_is_drawn_however_many_wait)
{
    char *text = NULL, *page, *figure;
    size_t size;
    FILE *out = open_memstream(&text, &size);

    fputs(cascade, out);
    for (int i = 0; i < 200; i++)
        fputs("43 p3 t3 wait a\n", out);
    fclose(out);
    page = page_of_text(text);
    figure = figure_of(page, "exclusion");
    assert_int_equal(1, count_of(figure, "class=\"fault\""));
    assert_non_null(strstr(figure, "and 141 more events"));
    free(figure);
    free(page);
    free(text);
}

TEST(no_byte_of_a_name_becomes_a_tag)
{
    struct history h = {0};
    char *page;

    add_hostile_name(&h, "</dd><script>alert(1)</script>\xff\x01&\"'");
    page = page_of(&h);
    assert_null(strstr(page, "alert(1)</script>"));
    assert_null(strstr(page, "<b>\"&"));
    assert_null(strchr(page, '\x01'));
    assert_null(strchr(page, 0xff));
    /* The script of the head, and the script of the figures. */
    assert_int_equal(2, count_of(page, "<script>"));
    assert_non_null(strstr(page, "&lt;/dd&gt;&lt;script&gt;alert(1)&lt;/script&gt;"
                                 "\\xff\\x01&amp;&quot;&#39;"));
    assert_non_null(strstr(page, "&lt;b&gt;&quot;&amp;&#39;:0"));
    free(page);
    history_free(&h);
}

TEST(without_a_violation_the_beginning_is_drawn)
{
    char *page = page_of_text("10 p1 t1 acquire a -> 11 ok until=40\n"
                              "12 p1 t1 release a -> 13 ok\n");

    assert_non_null(strstr(page, "No violation was found. Drawn are 2 of 2 calls"));
    assert_int_equal(1, count_of(page, "class=\"figure\""));
    assert_int_equal(0, count_of(page, "class=\"window\" x="));
    assert_int_equal(1, count_of(page, "<rect class=\"hold\" x="));
    free(page);
}

TEST(lanes_are_in_the_order_of_their_first_calls)
{
    char *page = page_of_text("10 p1 t1 acquire a -> 19 busy\n"
                              "11 p2 t2 acquire a -> 12 ok until=40\n"
                              "13 p2 t2 release a -> 14 ok\n");
    char *first = strstr(page, "<text class=\"name\"");
    const char *second;

    assert_non_null(first);
    second = strstr(first + 1, "<text class=\"name\"");
    assert_non_null(second);
    assert_true(strstr(first, ">pid 1, p1:1</text>") < second);
    assert_non_null(strstr(second, ">pid 2, p2:2</text>"));
    free(page);
}

TEST(what_is_too_much_is_left_out_and_counted)
{
    struct history h = {0};
    char *page;

    history_add_process(&h);
    history_name(&h, "a", 1);
    for (int i = 0; i < 2 * PAGE_LANES_MAX; i++) {
        struct history_call *call = history_add_call(&h);

        *call = (struct history_call){.kind = DLOCK_EVENT_ACQUIRE,
                                      .is_answered = true,
                                      .status = DLOCK_BUSY,
                                      .owner = (uint64_t)i,
                                      .invoke_ns = i,
                                      .answer_ns = 1000};
    }
    history_sort(&h);
    page = page_of(&h);
    assert_int_equal(PAGE_LANES_MAX, count_of(page, "<g class=\"lane"));
    assert_non_null(strstr(page, "no room to draw 24 more calls, 0 more holds"));
    free(page);
    history_free(&h);
}

TEST(its_title_has_the_verdict)
{
    char *page = page_of_text(cascade);

    assert_non_null(strstr(page, ">seckill check: invalid</title>"));
    assert_non_null(strstr(page, "data-zh=\"seckill check：不通过\""));
    assert_null(strstr(page, "<!--"));
    free(page);
}

TEST(the_axis_has_even_times_and_zero)
{
    char *page = page_of_text("10 p1 t1 acquire a -> 23 ok until=940\n"
                              "800 p1 t1 release a -> 804 ok\n");

    assert_int_equal(1, count_of(page, ">+0 ms</text>"));
    assert_int_equal(1, count_of(page, ">+100 ms</text>"));
    assert_int_equal(1, count_of(page, ">+700 ms</text>"));
    assert_int_equal(8, count_of(page, " ms</text>"));
    free(page);
}

TEST(the_page_needs_nothing_from_elsewhere)
{
    static const char *const outside[] = {"http:", "https:", "src=\"", "href=",
                                          "@import", "url(//", "fetch("};
    char *page = page_of_text(cascade);

    for (size_t i = 0; i < sizeof(outside) / sizeof(outside[0]); i++)
        assert_null(strstr(page, outside[i]));
    assert_non_null(strstr(page, "default-src 'none'"));
    free(page);
}

/* An order was sold, and the stock says that none was. */
TEST(a_history_without_calls_has_no_drawing)
{
    struct history h = {0};
    struct check_voucher voucher = {.id = 7, .issued = 5, .left = 5};
    struct audit_order order = {.voucher = 7, .request = "a"};
    struct check_options options = check_options_default();
    char *page, *figure;
    char error[128];

    assert_true(history_parse(&h, "10 p1 t1 acquire a -> 11 ok until=40\n", error,
                              sizeof(error)));
    voucher.name = history_name(&h, "voucher 7", strlen("voucher 7"));
    options.vouchers = &voucher;
    options.orders = &order;
    options.voucher_count = options.order_count = 1;
    page = page_of_judged(&h, &options);
    figure = figure_of(page, "orders");
    assert_non_null(strstr(figure, "there is nothing to draw"));
    assert_int_equal(0, count_of(figure, "<svg") + count_of(figure, "<button"));
    free(figure);
    free(page);
    history_free(&h);
}

TEST(an_empty_history_has_a_page)
{
    char *page = page_of_text("");

    assert_non_null(strstr(page, "The run is <span class=\"unknown\">unknown"));
    assert_int_equal(0, count_of(page, "class=\"figure\""));
    free(page);
}

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
