/* SPDX-License-Identifier: MIT */
/* test_write_log.c -- reading the record of the writes of a run, and its stock: whole, and with
 * lines that no run has written. */
#include <stdlib.h>
#include <string.h>

#include "loadtest/check/write_log.h"
#include "loadtest/kit/files.h"
#include "tests/registered.h"

#define ACCEPTED "1\t9\tlock:voucher:9\t7\tr-1\t1\tp1\tfence\taccepted\tnow\n"
#define STALE "2\t9\tlock:voucher:9\t6\tr-2\t2\tp2\tfence\tstale\tnow\n"
#define UNFENCED "3\t9\tlock:voucher:9\t\tr-3\t3\tp2\tread-write\taccepted\tnow\n"
#define SOLD_OUT "4\t9\tlock:voucher:9\t8\tr-4\t4\tp2\tfence\tsold-out\tnow\n"

static char dir[] = "/tmp/seckill-writes-XXXXXX";

static void put(const char *name, const char *bytes, size_t size)
{
    char path[FILES_PATH_MAX];
    FILE *file;

    files_join(path, dir, name);
    file = fopen(path, "w");
    assert_non_null(file);
    assert_int_equal(size, fwrite(bytes, 1, size, file));
    assert_int_equal(0, fclose(file));
}

/* An entry of stock.json, which has issued five units. */
#define ENTRY(voucher, left)                                                           \
    "{\"voucher\": " voucher ", \"issued\": 5, \"left\": " left ", \"fence\": 0, "           \
    "\"issued_us\": 1, \"begin_us\": 1, \"end_us\": 9, \"moved\": 0, \"read_us\": 0}"

static int make_run(void **state)
{
    static const char STOCK[] = "[" ENTRY("9", "4") "]";

    (void)state;
    if (!mkdtemp(dir))
        return -1;
    put("stock.json", STOCK, strlen(STOCK));
    put("orders.tsv", "", 0);
    return 0;
}

static int remove_run(void **state)
{
    (void)state;
    return files_remove_tree(dir) ? 0 : -1;
}

/* The number of the writes that were read; -1: the record was refused. */
static long read_record(const char *bytes, size_t size, struct write_log *log)
{
    struct history h = {0};
    bool is_read;

    put("writes.tsv", bytes, size);
    is_read = write_log_read(log, &h, dir);
    history_free(&h);
    return is_read ? (long)log->count : -1;
}

static long count_writes(const char *text)
{
    struct write_log log = {0};
    long count = read_record(text, strlen(text), &log);

    write_log_free(&log);
    return count;
}

TEST(a_whole_record_is_read)
{
    static const char text[] = "# position\n" ACCEPTED STALE UNFENCED SOLD_OUT;
    struct write_log log = {0};

    assert_int_equal(3, read_record(text, strlen(text), &log));
    assert_int_equal(7, log.writes[0].fence);
    assert_true(log.writes[0].is_accepted && log.writes[0].sets_fence);
    assert_string_equal("r-1", log.writes[0].request);
    assert_false(log.writes[1].is_accepted);
    assert_int_equal(0, log.writes[2].fence);
    assert_int_equal(3, log.writes[2].position);
    write_log_free(&log);
}

/* The lines behind the zero byte would go unread. */
TEST(a_zero_byte_is_refused)
{
    static const char text[] = ACCEPTED "2\t9\0" STALE;
    static const char at_a_line[] = ACCEPTED "\0" STALE;
    struct write_log log = {0};

    assert_int_equal(-1, read_record(text, sizeof text - 1, &log));
    write_log_free(&log);
    assert_int_equal(-1, read_record(at_a_line, sizeof at_a_line - 1, &log));
    write_log_free(&log);
}

TEST(a_field_that_is_no_number_is_refused)
{
    assert_int_equal(-1, count_writes("x\t9\tl\t7\tr-1\t1\tp1\tfence\taccepted\tnow\n"));
    assert_int_equal(-1, count_writes("1\t9x\tl\t7\tr-1\t1\tp1\tfence\taccepted\tnow\n"));
    assert_int_equal(-1, count_writes("1\t9\tl\tx7\tr-1\t1\tp1\tfence\taccepted\tnow\n"));
    assert_int_equal(-1, count_writes("1\t9\tl\t7\tr-1\t\tp1\tfence\taccepted\tnow\n"));
    assert_int_equal(-1, count_writes("1\t9\tl\t7\tr-1\tone\tp1\tfence\tsold-out\tnow\n"));
}

TEST(a_line_of_another_length_is_refused)
{
    assert_int_equal(-1, count_writes("1\t9\tl\t7\tr-1\t1\tp1\tfence\taccepted\n"));
    assert_int_equal(-1, count_writes("1\t9\tl\t7\tr-1\t1\tp1\tfence\taccepted\tnow\tmore\n"));
}

/* The verdict on a history without a violation in the run with this run.json. */
static enum verdict judge_without_writes(const char *run_json, unsigned only)
{
    static const char text[] = "10 p1 t1 acquire a -> 11 ok until=40\n"
                               "20 p1 t1 release a -> 21 ok\n"
                               "30 p1 t2 acquire a -> 31 ok until=40\n";
    struct check_options options = check_options_default();
    struct check *c = check_new();
    struct check_verdict verdict;
    struct write_log log = {0};
    struct history h = {0};
    char error[128];

    put("run.json", run_json, strlen(run_json));
    assert_true(history_parse(&h, text, error, sizeof error));
    write_log_note_missing(&log, dir);
    write_log_use(&log, &options);
    options.only = only;
    check_judge(c, &h, &options, &verdict);
    if (log.is_missing && verdict.valid == VERDICT_UNKNOWN)
        assert_string_equal("the record of the writes is missing: no file writes.tsv was found",
                            verdict.why_unknown);
    write_log_free(&log);
    history_free(&h);
    check_free(c);
    return verdict.valid;
}

TEST(a_run_that_lost_its_record_is_unknown)
{
    static const char ended[] = "{\"processes\": 1, \"pids\": {\"p1\": 7}}";

    assert_int_equal(VERDICT_UNKNOWN, judge_without_writes(ended, 0));
    assert_int_equal(VERDICT_UNKNOWN, judge_without_writes(ended, 1u << CHECK_orders));
    assert_int_equal(VERDICT_UNKNOWN, judge_without_writes(ended, 1u << CHECK_resource));
    assert_int_equal(VERDICT_VALID, judge_without_writes(ended, 1u << CHECK_exclusion));
}

TEST(a_run_that_may_never_have_had_a_record_is_judged_without)
{
    assert_int_equal(VERDICT_VALID, judge_without_writes("{\"processes\": 1}", 0));
    assert_int_equal(VERDICT_VALID, judge_without_writes("[]", 0));
}

/* Its stock would count twice. */
TEST(a_voucher_with_two_entries_in_the_stock_is_refused)
{
    static const char stock[] = "[" ENTRY("9", "4") "," ENTRY("10", "5") "," ENTRY("9", "4") "]";
    struct evidence evidence;

    put("stock.json", stock, strlen(stock));
    assert_false(evidence_from_files(&evidence, dir));
    assert_int_equal(2, evidence.voucher_count);
    assert_true(evidence_has_voucher(&evidence, 10));
    assert_false(evidence_has_voucher(&evidence, 11));
    evidence_free(&evidence);
}

GROUP(make_run, remove_run)
