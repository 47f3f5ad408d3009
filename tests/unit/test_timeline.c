/* SPDX-License-Identifier: MIT */
/* test_timeline.c -- the drawing of a part of a history. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "loadtest/check/timeline.h"
#include "tests/registered.h"

enum { LABEL = 21 };

/* The drawing of 0..to of a history for the lock "a"; the caller frees it. */
static char *draw(const char *text, int64_t to_ns, int width)
{
    struct check_example example = {.to_ns = to_ns};
    struct history h = {0};
    char error[128], *drawn = NULL;
    size_t size;
    FILE *out = open_memstream(&drawn, &size);

    history_name(&h, "a", 1);
    assert_true(history_parse(&h, text, error, sizeof(error)));
    timeline_draw(out, width, &h, &example);
    fclose(out);
    history_free(&h);
    return drawn;
}

/* Check the `row`th line without its label. */
static void assert_row(const char *drawn, int row, const char *expected)
{
    for (; row > 0; row--)
        drawn = strchr(drawn, '\n') + 1;
    assert_memory_equal(expected, drawn + LABEL, strlen(expected));
    assert_int_equal('\n', drawn[LABEL + strlen(expected)]);
}

TEST(a_row_shows_waiting_holding_and_working_on)
{
    char *drawn = draw("0 p1 t1 acquire a -> 5 ok until=12\n"
                       "16 p1 t1 release a -> 17 lost\n",
                       20, LABEL + 21);

    assert_row(drawn, 0, ".....========!!!!    ");
    free(drawn);
}

TEST(two_who_are_promised_the_lock_are_marked)
{
    char *drawn = draw("0 p1 t1 acquire a -> 1 ok until=18\n"
                       "4 p2 t2 acquire a -> 6 ok until=30\n"
                       "10 p1 t1 release a -> 11 ok\n"
                       "14 p2 t2 release a -> 15 ok\n",
                       20, LABEL + 21);

    assert_row(drawn, 0, ".=====XXXXX          ");
    assert_row(drawn, 1, "    ..XXXXX====      ");
    free(drawn);
}

TEST(a_renewal_and_an_inner_level_go_on_with_the_hold)
{
    char *drawn = draw("0 p1 t1 acquire a -> 1 ok until=8 level=1\n"
                       "4 p1 t1 renew a -> 5 ok until=18\n"
                       "6 p1 t1 acquire a -> 7 ok until=18 level=2\n"
                       "9 p1 t1 release a -> 10 ok\n"
                       "16 p1 t1 release a -> 17 ok\n",
                       20, LABEL + 21);

    assert_row(drawn, 0, ".=====.==========    ");
    free(drawn);
}

TEST(faults_are_numbered_and_named)
{
    char *drawn = draw("0 p1 t1 acquire a -> 1 ok until=18\n"
                       "5 fault freeze begun process pid=1\n"
                       "12 fault freeze ended process pid=1\n",
                       20, LABEL + 21);

    assert_row(drawn, 1, "     1      2        ");
    assert_non_null(strstr(drawn, "1  freeze begun"));
    assert_non_null(strstr(drawn, "2  freeze ended"));
    free(drawn);
}

TEST(rows_fit_the_width_and_hold_no_colour)
{
    static const int widths[] = {40, 60, 80, 132, 400};

    for (size_t i = 0; i < sizeof(widths) / sizeof(widths[0]); i++) {
        char *drawn = draw("0 p1 t1 acquire a -> 1 ok until=18\n"
                           "10 p1 t1 release a -> 11 ok\n",
                           20, widths[i]);

        assert_int_equal(widths[i], strcspn(drawn, "\n"));
        assert_null(strchr(drawn, '\033'));
        free(drawn);
    }
}
