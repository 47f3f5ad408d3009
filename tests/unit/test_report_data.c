/* SPDX-License-Identifier: MIT */
/* test_report_data.c -- a report is a complete page, whatever the files of a run contain. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "loadtest/report/report.h"
#include "tests/registered.h"

enum { DEPTH = 100000, LONG = 1000000 };

/* A run with a value of each kind that a report shows. */
static const char whole_run[] =
    "{\"format\":1,\"kind\":\"load\",\"version\":\"1\",\"commit\":\"0123456789ab\","
    "\"has_changes\":false,"
    "\"started\":\"2026-01-31T12:00:00Z\",\"elapsed_ms\":1234,\"exit\":1,"
    "\"command\":[\"seckill\",\"load\",\"it's\"],"
    "\"settings\":[{\"name\":\"stock\",\"value\":\"100\",\"origin\":\"flag\"}],"
    "\"machine\":{\"system\":\"Linux\",\"processors\":2,\"memory_mib\":1000,\"load_before\":0.5},"
    "\"versions\":{\"redis\":\"7\"},\"results\":{\"runs\":{\".\":{"
    "\"run\":{\"lock\":\"lua\",\"hazard\":\"freeze\",\"seckilld_flags\":[\"--lock=lua\"],"
    "\"times\":{\"began_us\":1,\"sold_out_ms\":5,\"fault_from_ms\":1,\"fault_to_ms\":3,"
    "\"orders_per_s\":7}},"
    "\"verdict\":{\"valid\":false,\"orders\":103,\"issued\":100,\"left\":0,\"told\":103,"
    "\"checks\":{\"oversold\":{\"valid\":false,\"count\":3,\"examples\":[\"an example\"]}}},"
    "\"load\":{\"unanswered\":0,\"outcomes\":{\"accepted\":103},\"latency_accepted\":"
    "{\"count\":103,\"p50_ms\":1,\"p99_ms\":2,\"curve\":[[0,1],[1,2],[2,3]]}},"
    "\"stopped\":{\"processes\":2,\"asked\":2,\"layers\":{\"lock\":4}},"
    "\"service\":[{\"name\":\"lock\",\"value\":\"lua\",\"origin\":\"flag\"}],"
    "\"objectives\":[{\"objective\":\"p99<1s\",\"state\":\"holds\",\"value\":1,"
    "\"measured\":\"1 ms\"}],"
    "\"orders\":{\"from_us\":1,\"step_ms\":1,\"orders\":[1,2,3]}}}}}";

static bool is_whole(const char *page, size_t size)
{
    static const char end[] = "</html>\n";

    return strlen(page) == size && size > sizeof end &&
           strcmp(page + size - (sizeof end - 1), end) == 0;
}

static size_t scripts(const char *page)
{
    size_t count = 0;

    for (const char *at = strstr(page, "<script"); at; at = strstr(at + 1, "<script"))
        count++;
    return count;
}

/* Make the page of the text, and the page that compares the text with itself. Each must be
 * complete, with no script but its own. Returns the exit status of the reader. */
static enum exit_code page_of(const char *text, size_t size)
{
    struct run_data data;
    enum exit_code rc = run_data_parse(&data, text, size);

    assert_non_null(data.json);
    for (int two = 0; two < 2; two++) {
        char *page = NULL;
        size_t page_size = 0;
        FILE *out = open_memstream(&page, &page_size);

        assert_non_null(out);
        report_print(out, &data, two ? &data : NULL);
        assert_int_equal(fclose(out), 0);
        assert_true(is_whole(page, page_size));
        assert_int_equal(scripts(page), two ? 4 : 3);
        free(page);
    }
    run_data_free(&data);
    return rc;
}

static enum exit_code page_of_text(const char *text)
{
    return page_of(text, strlen(text));
}

TEST(a_whole_run_has_no_problem)
{
    assert_int_equal(page_of_text(whole_run), EXIT_VALID);
}

TEST(a_text_that_is_cut_anywhere_is_damaged)
{
    for (size_t size = 0; size < sizeof whole_run - 1; size++)
        assert_int_equal(page_of(whole_run, size), EXIT_UNKNOWN);
}

TEST(texts_that_are_no_data_of_a_run_are_damaged)
{
    static const char *const texts[] = {
        "",  " ",  "null", "true", "1", "\"\"", "[]", "{}", "{\"results\":1}",
        "{\"results\":[]}", "{\"format\":1,\"results\":{}}",
        "{\"format\":1,\"results\":{\"runs\":{}}}",
        "{\"format\":1,\"results\":{\"other\":{\"a\":1}}}",
        "{\"format\":1,\"results\":{\"runs\":{\".\":{\"verdict\":{\"valid\":true}}}}}",
        "not JSON", "{\"format\":1,\"results\":{}",
        "{\"a\":\"\\u0000\",\"results\":{}}", "{\"results\":{},\"kind\":\"\xff\xfe\"}",
        "{\"results\":{},\"kind\":\"\xed\xa0\x80\"}",
        "{\"results\":{\"bench\":1e999}}", "{\"results\":{\"bench\":99999999999999999999999}}",
    };

    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++)
        assert_int_equal(page_of_text(texts[i]), EXIT_UNKNOWN);
}

TEST(bytes_behind_a_zero_are_not_passed_over)
{
    static const char text[] = "{\"format\":1,\"results\":{\"bench\":{\"rows\":[]}}}\0{";

    assert_int_equal(page_of(text, sizeof text - 1), EXIT_UNKNOWN);
    assert_int_equal(page_of(text, strlen(text)), EXIT_VALID);
}

/* The document with `value` in place of value number `at`, counted over the whole tree; NULL if the
 * document has fewer values. */
static bool put(json_t *json, int *at, json_t *value)
{
    const char *key;
    json_t *inner;
    size_t i;

    json_object_foreach(json, key, inner)
    {
        if ((*at)-- == 0)
            return json_object_set(json, key, value) == 0;
        if (put(inner, at, value))
            return true;
    }
    json_array_foreach(json, i, inner)
    {
        if ((*at)-- == 0)
            return json_array_set(json, i, value) == 0;
        if (put(inner, at, value))
            return true;
    }
    return false;
}

static json_t *rubbish_at(size_t i)
{
    static const char *const texts[] = {
        "[null]", "[true]", "[-1]", "[9223372036854775807]", "[-9223372036854775808]", "[1e308]",
        "[-1e308]", "[1e-308]", "[\"\"]", "[\"</script><script>alert(1)</script>\"]", "[[]]",
        "[{}]", "[[[[]]]]", "[{\"a\":{\"a\":[1]}}]", "[\"{0}{9}\"]", "[\"--lock\"]",
        "[[9223372036854775807,1e308,\"\",null]]",
    };
    json_t *list, *value;

    if (i >= sizeof texts / sizeof texts[0])
        return NULL;
    list = json_loads(texts[i], 0, NULL);
    assert_non_null(list);
    value = json_incref(json_array_get(list, 0));
    json_decref(list);
    return value;
}

/* Each value of the run in turn is replaced by each kind of wrong value. */
TEST(a_value_of_a_wrong_kind_counts_as_missing)
{
    size_t replaced = 0;
    json_t *value;

    for (size_t i = 0; (value = rubbish_at(i)) != NULL; i++) {
        bool is_there = true;

        for (int at = 0; is_there; at++) {
            json_t *run = json_loads(whole_run, 0, NULL);
            int place = at;

            is_there = put(run, &place, value);
            if (is_there) {
                char *text = json_dumps(run, JSON_COMPACT);

                (void)page_of_text(text);
                free(text);
                replaced++;
            }
            json_decref(run);
        }
        json_decref(value);
    }
    assert_true(replaced > 500);
}

TEST(deep_nesting_and_long_texts_are_survived)
{
    char *text = malloc(LONG + 100);
    size_t size;

    assert_non_null(text);
    memset(text, '[', DEPTH);
    assert_int_equal(page_of(text, DEPTH), EXIT_UNKNOWN);
    size = (size_t)sprintf(text, "{\"format\":1,\"kind\":\"");
    memset(text + size, 'x', LONG - size);
    size = LONG + (size_t)sprintf(text + LONG,
                                  "\",\"commit\":\"%s\",\"results\":{\"bench\":{\"rows\":[]}}}",
                                  "y");
    assert_int_equal(page_of(text, size), EXIT_VALID);
    free(text);
}

/* The files beside data.json have huge numbers, and the sums of these must not overflow. */
TEST(files_of_a_run_with_huge_numbers_are_read)
{
    static const struct {
        const char *name, *text;
    } files[] = {
        {"run.json", "{\"times\":{\"began_us\":-9223372036854775808}}"},
        {"orders.tsv", "1\t2\t3\t4\t5\t6\t7\t8\t9\t10\t9223372036854775807\n"
                       "1\t2\t3\t4\t5\t6\t7\t8\t9\t10\t99999999999999999999999\n"
                       "1\t2\t3\t4\t5\t6\t7\t8\t9\t10\t1700000000000000\n\t\t\n\xff\n"},
        {"stopped.json", "{\"processes\":9223372036854775807,\"asked\":9223372036854775807}"},
        {"verdict.json", "[1,2"},
        {"load.json", "\"\""},
    };
    char dir[] = "/tmp/seckill-report-XXXXXX", path[FILES_PATH_MAX], *page = NULL;
    size_t size = 0;
    struct run_data data;
    FILE *out;

    assert_non_null(mkdtemp(dir));
    for (size_t i = 0; i < sizeof files / sizeof files[0]; i++) {
        files_join(path, dir, files[i].name);
        assert_true(files_write(path, files[i].text));
    }
    assert_int_equal(run_data_read(&data, dir), EXIT_UNKNOWN);
    out = open_memstream(&page, &size);
    report_print(out, &data, NULL);
    assert_int_equal(fclose(out), 0);
    assert_true(is_whole(page, size));
    assert_non_null(strstr(page, "verdict.json, line 1"));
    free(page);
    run_data_free(&data);
    assert_true(files_remove_tree(dir));
}

/* A comparison of `locks` locks with three runs each, whose speeds and p99 are alike. The first
 * `apart` values differ from those of a comparison with 0. */
static json_t *comparison(int locks, int apart)
{
    json_t *cells = json_array();

    for (int i = 0; i < locks; i++) {
        json_t *runs = json_array();
        char lock[32];

        for (int r = 0; r < 3; r++)
            json_array_append_new(
                runs, json_pack("{s:s, s:f, s:f}", "outcome", "sound", "orders_per_s",
                                (2 * i < apart ? 2000.0 : 1000.0) + r, "p99_ms",
                                (2 * i + 1 < apart ? 20.0 : 10.0) + r));
        (void)snprintf(lock, sizeof lock, "lock-%d", i);
        json_array_append_new(
            cells, json_pack("{s:s, s:s, s:s, s:s, s:o}", "experiment", "oversell", "hazard",
                             "calm", "lock", lock, "outcome", "as expected", "runs", runs));
    }
    return json_pack("{s:i, s:s, s:{s:{s:o}}}", "format", 1, "kind", "compare", "results",
                     "summary", "cells", cells);
}

/* The page of one comparison, or of two; the caller frees the page. */
static char *page_of_comparisons(json_t *a, json_t *b)
{
    struct run_data data[2] = {{.json = a}, {.json = b}};
    char *page = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&page, &size);

    assert_non_null(out);
    report_print(out, &data[0], b ? &data[1] : NULL);
    assert_int_equal(fclose(out), 0);
    assert_true(is_whole(page, size));
    run_data_free(&data[0]);
    run_data_free(&data[1]);
    return page;
}

/* With three runs each, one of ten values differs by chance, so two of eight are no evidence. */
TEST(values_that_lie_apart_by_chance_make_no_difference)
{
    static const struct {
        int locks, apart;
        bool is_same;
    } cases[] = {{4, 0, true}, {4, 1, true}, {4, 2, true}, {4, 3, false}, {4, 8, false},
                 {1, 1, true}, {1, 2, false}, {2000, 300, true}, {2000, 500, false}};

    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        char *page = page_of_comparisons(comparison(cases[i].locks, 0),
                                         comparison(cases[i].locks, cases[i].apart));

        assert_non_null(strstr(page, cases[i].is_same ? "data-same=\"yes\"" : "data-same=\"no\""));
        free(page);
    }
}

TEST(cells_that_have_no_room_are_counted)
{
    char *page = page_of_comparisons(comparison(60, 0), NULL);

    assert_null(strstr(page, "more cells are not in the tables"));
    free(page);
    page = page_of_comparisons(comparison(100, 0), NULL);
    assert_non_null(strstr(page, "36 more cells are not in the tables"));
    free(page);
}
