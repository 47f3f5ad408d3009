/* SPDX-License-Identifier: MIT */
/* test_show_board.c -- each state names the time of the next request, and many browsers get every
 * second state only. */
#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#include "base/text/duration.h"
#include "loadtest/show/board.h"
#include "tests/registered.h"

enum { STEP_MS = 60000, FEW = 3, MANY = 40 };

static const struct show_switches SWITCHES;

static const char DOCUMENT[] = "{\"seq\":7}";

/* Publish a state; the next one is due after `due_ms`. */
static void publish(struct show_board *board, int due_ms)
{
    int64_t next_ns = monotonic_ns() + due_ms * INT64_C(1000000);

    show_board_publish(board, strdup(DOCUMENT), SHOW_RUNNING, &SWITCHES,
                       (struct show_pace){next_ns, STEP_MS});
}

/* Ask for the state once, as a browser does. */
static json_int_t ask(struct show_board *board)
{
    char *document = show_board_document(board);
    json_t *json = json_loads(document, 0, NULL);
    json_int_t ms = json_integer_value(json_object_get(json, "next_ms"));

    assert_non_null(json);
    assert_int_equal(json_integer_value(json_object_get(json, "seq")), 7);
    json_decref(json);
    free(document);
    return ms;
}

TEST(before_the_first_state_there_is_no_document)
{
    struct show_board board;

    show_board_init(&board, &SWITCHES);
    assert_null(show_board_document(&board));
    show_board_destroy(&board);
}

TEST(a_browser_asks_again_when_the_next_state_is_due)
{
    struct show_board board;
    json_int_t ms;

    show_board_init(&board, &SWITCHES);
    publish(&board, STEP_MS);
    ms = ask(&board);
    assert_in_range(ms, STEP_MS / 2, STEP_MS);
    show_board_destroy(&board);
}

TEST(a_late_state_is_asked_for_after_a_pause)
{
    struct show_board board;

    show_board_init(&board, &SWITCHES);
    publish(&board, -STEP_MS);
    assert_in_range(ask(&board), 10, 100);
    show_board_destroy(&board);
}

TEST(without_a_due_time_a_browser_asks_four_times_a_second)
{
    struct show_board board;

    show_board_init(&board, &SWITCHES);
    show_board_publish(&board, strdup(DOCUMENT), SHOW_STARTING, &SWITCHES,
                       (struct show_pace){0});
    for (int i = 0; i < MANY; i++)
        assert_int_equal(ask(&board), 250);
    show_board_destroy(&board);
}

/* The greatest number in the answers to `count` browsers. */
static json_int_t ask_all(struct show_board *board, int count)
{
    json_int_t greatest = 0;

    for (int i = 0; i < count; i++) {
        json_int_t ms = ask(board);

        greatest = ms > greatest ? ms : greatest;
    }
    return greatest;
}

TEST(many_browsers_leave_out_every_second_state_until_most_have_gone)
{
    struct show_board board;

    show_board_init(&board, &SWITCHES);
    publish(&board, STEP_MS);
    assert_in_range(ask_all(&board, FEW), 1, STEP_MS);
    publish(&board, STEP_MS);
    assert_in_range(ask_all(&board, MANY), STEP_MS + 1, 2 * STEP_MS);
    /* All forty browsers skip this state; then one more browser comes. */
    publish(&board, STEP_MS);
    assert_in_range(ask(&board), STEP_MS + 1, 2 * STEP_MS);
    publish(&board, STEP_MS);
    assert_in_range(ask_all(&board, FEW), 1, STEP_MS);
    show_board_destroy(&board);
}
