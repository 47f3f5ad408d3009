/* SPDX-License-Identifier: MIT */
/* test_ledger.c -- reading the ledger's files, whole and incomplete. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "loadtest/audit/ledger.h"
#include "loadtest/kit/files.h"
#include "tests/registered.h"

static int make_dir(void **state)
{
    char *dir = strdup("/tmp/seckill-ledger-XXXXXX");

    if (!dir || !mkdtemp(dir)) {
        free(dir);
        return -1;
    }
    *state = dir;
    return 0;
}

static int remove_dir(void **state)
{
    bool ok = files_remove_tree(*state);

    free(*state);
    return ok ? 0 : -1;
}

static void put(void **state, const char *name, const char *text)
{
    char path[FILES_PATH_MAX];

    files_join(path, *state, name);
    assert_true(files_write(path, text));
}

TEST_WITH(make_dir, remove_dir, a_whole_ledger_is_complete)
{
    struct ledger ledger;

    put(state, "ledger-1.tsv",
        "accepted\tr-1-1\t100\t1\t9\nunsure\tr-1-2\t-\t2\t9\nend\t2\t2\t1\t0\n");
    put(state, "ledger-2.tsv",
        "sold-out\tr-2-1\t-\t3\t9\nunanswered\tr-2-2\t-\t4\t9\nend\t2\t1\t0\t1\n");
    assert_true(ledger_read(&ledger, *state));
    assert_true(ledger.is_complete);
    assert_int_equal(ledger.files, 2);
    assert_int_equal(ledger.count, 4);
    assert_int_equal(ledger.sent, 4);
    assert_int_equal(ledger.accepted, 1);
    assert_int_equal(ledger.entries[0].order, 100);
    assert_string_equal(ledger.entries[0].request, "r-1-1");
    assert_int_equal(ledger.entries[1].what, LEDGER_UNSURE);
    assert_int_equal(ledger.entries[2].what, LEDGER_SOLD_OUT);
    assert_int_equal(ledger.entries[3].what, LEDGER_UNSURE);
    assert_int_equal(ledger.entries[3].user, 4);
    ledger_free(&ledger);
}

TEST_WITH(make_dir, remove_dir, without_an_end_it_is_not)
{
    struct ledger ledger;

    put(state, "ledger-1.tsv", "accepted\tr-1-1\t100\t1\t9\n");
    assert_true(ledger_read(&ledger, *state));
    assert_false(ledger.is_complete);
    assert_int_equal(ledger.count, 1);
    ledger_free(&ledger);
}

TEST_WITH(make_dir, remove_dir, nor_with_half_a_line)
{
    struct ledger ledger;

    put(state, "ledger-1.tsv", "accepted\tr-1-1\t100\t1\t9\naccepted\tr-1-");
    assert_true(ledger_read(&ledger, *state));
    assert_false(ledger.is_complete);
    assert_int_equal(ledger.count, 1);
    ledger_free(&ledger);
}

TEST_WITH(make_dir, remove_dir, nor_if_one_of_two_has_no_end)
{
    struct ledger ledger;

    put(state, "ledger-1.tsv", "end\t0\t0\t0\t0\n");
    put(state, "ledger-2.tsv", "");
    assert_true(ledger_read(&ledger, *state));
    assert_false(ledger.is_complete);
    ledger_free(&ledger);
}

/* The totals of two threads whose sum overflows, and totals that are no counts. */
TEST_WITH(make_dir, remove_dir, totals_that_are_no_counts_are_refused)
{
    static const char *const BAD[] = {
        "end\t9223372036854775807\t0\t0\t0\n", "end\t-1\t0\t0\t0\n",
        "end\t1e3\t0\t0\t0\n", "end\t\t0\t0\t0\n", "end\t0\t0\t0\t0x1\n"};

    for (size_t i = 0; i < sizeof(BAD) / sizeof(BAD[0]); i++) {
        struct ledger ledger;

        put(state, "ledger-1.tsv", BAD[i]);
        assert_false(ledger_read(&ledger, *state));
        ledger_free(&ledger);
    }
}

TEST_WITH(make_dir, remove_dir, nor_if_the_end_does_not_add_up)
{
    struct ledger ledger;

    put(state, "ledger-1.tsv", "accepted\tr-1-1\t100\t1\t9\nend\t5\t5\t2\t0\n");
    assert_true(ledger_read(&ledger, *state));
    assert_false(ledger.is_complete);
    ledger_free(&ledger);
}

/* Each request was answered, or is among the unanswered. */
TEST_WITH(make_dir, remove_dir, nor_if_a_request_has_neither_an_answer_nor_a_line)
{
    struct ledger ledger;

    put(state, "ledger-1.tsv", "accepted\tr-1-1\t100\t1\t9\nend\t2\t1\t1\t0\n");
    assert_true(ledger_read(&ledger, *state));
    assert_false(ledger.is_complete);
    ledger_free(&ledger);
}

/* A front answered without the request's id, and closed a connection that had no request with an
 * answer. */
TEST_WITH(make_dir, remove_dir, answers_without_an_id_count_too)
{
    struct ledger ledger;

    put(state, "ledger-1.tsv", "unanswered\tr-1-1\t-\t1\t9\nend\t1\t2\t0\t1\n");
    assert_true(ledger_read(&ledger, *state));
    assert_true(ledger.is_complete);
    ledger_free(&ledger);
}

/* The path of the directory is no pattern, and a file of another name is no ledger. */
TEST_WITH(make_dir, remove_dir, the_name_of_the_directory_is_taken_as_it_is)
{
    static const char *const names[] = {"t*", "t1", "[1]"};
    static const int files[] = {0, 1, 1};
    char dir[3][FILES_PATH_MAX], path[FILES_PATH_MAX];
    struct ledger ledger;

    for (int i = 0; i < 3; i++) {
        files_join(dir[i], *state, names[i]);
        assert_true(files_make_dir(dir[i]));
        files_join(path, dir[i], files[i] > 0 ? "ledger-1.tsv" : "ledger-1.txt");
        assert_true(files_write(path, "end\t0\t0\t0\t0\n"));
    }
    for (int i = 0; i < 3; i++) {
        json_t *list = ledger_list(dir[i]);

        assert_true(ledger_read(&ledger, dir[i]));
        assert_int_equal(ledger.files, files[i]);
        assert_int_equal(json_array_size(list), files[i]);
        json_decref(list);
        ledger_free(&ledger);
    }
}

TEST_WITH(make_dir, remove_dir, a_directory_that_is_not_there_is_refused)
{
    struct ledger ledger;
    char dir[FILES_PATH_MAX];

    files_join(dir, *state, "none");
    assert_false(ledger_read(&ledger, dir));
    ledger_free(&ledger);
}

TEST_WITH(make_dir, remove_dir, nor_without_files)
{
    struct ledger ledger;

    assert_true(ledger_read(&ledger, *state));
    assert_false(ledger.is_complete);
    assert_int_equal(ledger.files, 0);
    ledger_free(&ledger);
}

TEST_WITH(make_dir, remove_dir, nonsense_is_refused)
{
    struct ledger ledger;

    put(state, "ledger-1.tsv", "hello\n");
    assert_false(ledger_read(&ledger, *state));
    ledger_free(&ledger);
    put(state, "ledger-1.tsv", "bought\tr-1-1\t100\t1\t9\n");
    assert_false(ledger_read(&ledger, *state));
    ledger_free(&ledger);
}

/* If two runs wrote into one directory, the reader cannot know which run a line, or a part of a
 * line, belongs to. */
TEST_WITH(make_dir, remove_dir, nothing_may_stand_behind_the_end)
{
    static const char *const BEHIND[] = {"accepted\tr-1-2\t101\t2\t9\n",
                                         "unanswered\tr-1-2\t-\t2\t9\n",
                                         "end\t1\t1\t1\t0\n", "accepted\tr-"};

    for (size_t i = 0; i < sizeof(BEHIND) / sizeof(BEHIND[0]); i++) {
        struct ledger ledger;
        char text[128];

        snprintf(text, sizeof text, "accepted\tr-1-1\t100\t1\t9\nend\t1\t1\t1\t0\n%s",
                 BEHIND[i]);
        put(state, "ledger-1.tsv", text);
        assert_false(ledger_read(&ledger, *state));
        ledger_free(&ledger);
    }
}

TEST_WITH(make_dir, remove_dir, a_ledger_that_run_json_names_and_that_is_missing_is_named)
{
    struct ledger ledger;

    put(state, "ledger-1.tsv", "accepted\tr-1-1\t100\t1\t9\nend\t1\t1\t1\t0\n");
    put(state, "run.json", "{\"ledgers\": [\"ledger-1.tsv\"], \"start\": {\"threads\": 1}}");
    assert_true(ledger_read(&ledger, *state));
    ledger_note_missing(&ledger, *state);
    assert_true(ledger.is_complete);
    assert_string_equal(ledger.missing, "");
    put(state, "run.json", "{\"ledgers\": [\"ledger-1.tsv\", \"ledger-2.tsv\"]}");
    ledger_note_missing(&ledger, *state);
    assert_false(ledger.is_complete);
    assert_string_equal(ledger.missing,
                        "ledger-2.tsv is missing: run.json says 2 ledgers, 1 file was found");
    ledger_free(&ledger);
}
