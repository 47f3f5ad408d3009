/* SPDX-License-Identifier: MIT */
/* test_metrics.c -- the answer to /metrics agrees with the list of metrics. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "app/metrics.h"
#include "app/metrics_list.h"
#include "base/os/clock.h"
#include "tests/service/rig.h"

static struct rig_service service;
static struct rig_answer answer;

static double last_bucket; /* of the histogram whose lines are being read */

static void ask(void)
{
    assert_true(rig_admin(&service, "GET", "/metrics", &answer));
    assert_int_equal(answer.status, 200);
    assert_non_null(strstr(answer.head, "text/plain; version=0.0.4"));
}

/* The next line, taken off *rest; NULL at the end. */
static char *next_line(char **rest)
{
    char *line = *rest;
    char *end = strchr(line, '\n');

    if (*line == '\0')
        return NULL;
    assert_non_null(end);
    *end = '\0';
    *rest = end + 1;
    return line;
}

/* Return the position after NAME="VALUE" and its comma. `text` is a part of `line`. */
static const char *pass_label(const char *line, const char *text, const char *name)
{
    size_t len = strlen(name);
    const char *end;

    if (strncmp(text, name, len) != 0 || strncmp(text + len, "=\"", 2) != 0)
        fail_msg("%s: the label %s is not at \"%s\"", line, name, text);
    text += len + 2;
    end = strchr(text, '"');
    assert_true(end != NULL && end > text);
    end++;
    return *end == ',' ? end + 1 : end;
}

/* The buckets of a histogram never decrease, and its _count is its last bucket. */
static void check_histogram(const char *line, const char *ending, double value)
{
    if (strncmp(ending, "_bucket", 7) == 0) {
        if (strstr(line, "le=\"1e-06\"") == NULL && value < last_bucket)
            fail_msg("%s: the bucket before it has %g", line, last_bucket);
        last_bucket = value;
    } else if (strncmp(ending, "_count", 6) == 0 && value != last_bucket) {
        fail_msg("%s: the last bucket has %g", line, last_bucket);
    }
}

/* A line with a value has its name, its labels in the order of the list, and its value. */
static void check_line(const struct metrics_entry *e, const char *line)
{
    static const char *const ENDINGS[] = {"_bucket", "_sum", "_count"};
    const char *ending = line + strlen(e->name);
    const char *rest = ending;
    char *end = NULL;
    double value;
    bool is_bucket;

    if (strncmp(line, e->name, strlen(e->name)) != 0)
        fail_msg("%s: this line stands below %s", line, e->name);
    for (size_t i = 0; e->type == METRICS_HISTOGRAM && i < 3; i++)
        if (strncmp(ending, ENDINGS[i], strlen(ENDINGS[i])) == 0)
            rest = ending + strlen(ENDINGS[i]);
    assert_true((rest > ending) == (e->type == METRICS_HISTOGRAM));
    is_bucket = strncmp(ending, "_bucket", 7) == 0;
    if (e->labels[0] != METRICS_NO_LABEL || is_bucket) {
        assert_int_equal(*rest++, '{');
        for (int l = 0; l < METRICS_LABELS_MAX; l++)
            if (e->labels[l] != METRICS_NO_LABEL)
                rest = pass_label(line, rest, metrics_label_name(e->labels[l]));
        if (is_bucket)
            rest = pass_label(line, rest, "le");
        assert_int_equal(*rest++, '}');
    }
    assert_int_equal(*rest++, ' ');
    value = strtod(rest, &end);
    if (end == rest || *end != '\0')
        fail_msg("%s: there is no number at the end", line);
    if (e->type != METRICS_GAUGE && value < 0)
        fail_msg("%s: a %s is negative", line, metrics_type_name(e->type));
    if (e->type == METRICS_HISTOGRAM)
        check_histogram(line, ending, value);
}

/* The head of each metric occurs once, in the order of the list, with its lines below it. */
static void check_answer(void)
{
    const struct metrics_entry *e = NULL;
    char expected[1024];
    char *rest = answer.body;
    char *line = next_line(&rest);

    for (size_t i = 0; (e = metrics_at(i)) != NULL; i++) {
        int lines = 0;

        assert_non_null(line);
        (void)snprintf(expected, sizeof(expected), "# HELP %s %s", e->name, e->help);
        assert_string_equal(line, expected);
        line = next_line(&rest);
        assert_non_null(line);
        (void)snprintf(expected, sizeof(expected), "# TYPE %s %s", e->name,
                       metrics_type_name(e->type));
        assert_string_equal(line, expected);
        for (line = next_line(&rest); line != NULL && line[0] != '#';
             line = next_line(&rest)) {
            check_line(e, line);
            lines++;
        }
        assert_true(lines > 0);
        print_message("%s: %s, lines: %d\n", e->name, metrics_type_name(e->type), lines);
    }
    if (line != NULL)
        fail_msg("%s: the list has no such metric", line);
}

TEST(a_service_that_has_done_nothing_answers_the_whole_list)
{
    ask();
    check_answer();
}

TEST(a_service_that_has_sold_answers_the_whole_list)
{
    int64_t voucher = rig_voucher(5);

    assert_true(rig_order(service.orders_port, voucher, 1, &answer));
    assert_int_equal(answer.status, 201);
    ask();
    assert_non_null(strstr(
        answer.body,
        "\nseckill_orders_total{lock=\"reentrant\",outcome=\"accepted\"} 1\n"));
    assert_non_null(strstr(answer.body, "\nseckill_lock_hold_seconds_count 1\n"));
    assert_non_null(
        strstr(answer.body, "\nseckill_dlock_hold_seconds_count{variant=\"reentrant\"} 1\n"));
    check_answer();
}

TEST(a_service_that_does_nothing_takes_no_processor_time)
{
    double before = rig_metric(&service, "process_cpu_seconds_total ");

    assert_true(before >= 0);
    dlock_clock_sleep_until(dlock_clock_after(dlock_clock_ns(), 2000));
    assert_true(rig_metric(&service, "process_cpu_seconds_total ") - before < 0.5);
}

int main(void)
{
    return RIG_RUN_WITH_SERVICE(&service, "--lock=reentrant");
}
