/* SPDX-License-Identifier: MIT */
/* test_page.c -- the contents of the HTML timeline, and its limits. */
#include "tests/registered.h"
#include "tests/unit/drawn_history.h"

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
