/* SPDX-License-Identifier: MIT */
/* test_lock_trace.c -- the traces that a program gives to a hold are in the record, and in the
 * findings of `seckill check`. */
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/registered.h"
#include "tests/unit/recorder_run.h"

#define TRACE "4bf92f3577b34da6a3ce929d0e0e4736"
#define OTHER "0af7651916cd43dd8448eb211c80319c"
#define LONGEST "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789.:"

static dlock_system *open_local(const char *record_dir)
{
    dlock_options opts = dlock_options_default();
    dlock_system *sys = NULL;

    opts.variant = "local";
    opts.record_dir = record_dir;
    assert_int_equal(dlock_open(&sys, &opts), DLOCK_OK);
    return sys;
}

static dlock_lease take(dlock_system *sys, const char *name)
{
    dlock_lease lease;

    assert_int_equal(dlock_acquire(sys, name, 0, &lease), DLOCK_OK);
    return lease;
}

/* The traces of the acquires of `name`, each with a comma after it. */
static const char *recorded(const char *name)
{
    static char text[512];
    struct history h = read_back();

    text[0] = '\0';
    assert_int_equal(h.damage_count, 0);
    for (size_t i = 0; i < h.call_count; i++) {
        const struct history_trace *traces;
        size_t count = history_traces_of(&h, &h.calls[i], &traces);

        if (h.calls[i].kind != DLOCK_EVENT_ACQUIRE ||
            strcmp(h.names[h.calls[i].name], name) != 0)
            continue;
        for (size_t j = 0; j < count; j++) {
            strcat(text, h.names[traces[j].id]);
            strcat(text, ",");
        }
    }
    history_free(&h);
    return text;
}

TEST_WITH(make_dir, remove_dir, a_hold_has_the_traces_that_it_serves)
{
    dlock_system *sys = open_local(dir);
    dlock_lease first, second;

    first = take(sys, "lock:a");
    second = take(sys, "lock:b");
    assert_int_equal(dlock_trace(sys, &second, OTHER), DLOCK_OK);
    assert_int_equal(dlock_trace(sys, &first, TRACE), DLOCK_OK);
    assert_int_equal(dlock_trace(sys, &first, LONGEST), DLOCK_OK);
    assert_int_equal(dlock_release(sys, &first), DLOCK_OK);
    first = take(sys, "lock:a");
    assert_int_equal(dlock_release(sys, &first), DLOCK_OK);
    assert_int_equal(dlock_release(sys, &second), DLOCK_OK);
    dlock_close(sys);
    assert_string_equal(recorded("lock:a"), TRACE "," LONGEST ",");
    assert_string_equal(recorded("lock:b"), OTHER ",");
}

TEST_WITH(make_dir, remove_dir, a_trace_that_is_no_id_is_refused_and_not_recorded)
{
    static const char *const BAD[] = {
        "", LONGEST "x", "two words", "line\nend", "quote\"", "back\\slash", "\x1b[31m",
        "\xc3\xa9", "tab\t", "slash/", "percent%",
    };
    dlock_system *sys = open_local(dir);
    dlock_lease lease = take(sys, "lock:a"), never = {0};

    assert_int_equal(dlock_trace(sys, &lease, NULL), DLOCK_INVALID);
    for (size_t i = 0; i < sizeof(BAD) / sizeof(BAD[0]); i++) {
        assert_int_equal(dlock_trace(sys, &lease, BAD[i]), DLOCK_INVALID);
        assert_non_null(strstr(dlock_error(), i < 2 ? "1 to 64 bytes" : "is none of"));
    }
    assert_int_equal(dlock_trace(sys, NULL, TRACE), DLOCK_INVALID);
    assert_int_equal(dlock_trace(sys, &never, TRACE), DLOCK_INVALID);
    assert_int_equal(dlock_release(sys, &lease), DLOCK_OK);
    assert_int_equal(dlock_trace(sys, &lease, TRACE), DLOCK_INVALID);
    assert_non_null(strstr(dlock_error(), "is released"));
    assert_int_equal(dlock_trace(NULL, &lease, TRACE), DLOCK_INVALID);
    dlock_close(sys);
    assert_string_equal(recorded("lock:a"), "");
}

TEST_WITH(make_dir, remove_dir, without_a_record_nothing_happens)
{
    dlock_system *sys = open_local(NULL);
    dlock_lease lease = take(sys, "lock:a");

    assert_int_equal(dlock_trace(sys, &lease, TRACE), DLOCK_OK);
    assert_int_equal(dlock_release(sys, &lease), DLOCK_OK);
    dlock_close(sys);
}

TEST_WITH(make_dir, remove_dir, a_child_names_no_trace_of_its_parent)
{
    dlock_system *sys = open_local(dir);
    dlock_lease lease = take(sys, "lock:a");
    int status;
    pid_t pid;

    pid = fork();
    assert_true(pid >= 0);
    if (pid == 0)
        _exit(dlock_trace(sys, &lease, TRACE) == DLOCK_INVALID ? 0 : 1);
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_int_equal(status, 0);
    assert_int_equal(dlock_release(sys, &lease), DLOCK_OK);
    dlock_close(sys);
    assert_string_equal(recorded("lock:a"), "");
}

/* ---- the findings ---- */

/* Judge the text. Returns the printed findings, which the caller frees; *json gets the form for
 * programs. */
static char *say(const char *text, json_t **json)
{
    struct check_options options = check_options_default();
    struct check_verdict verdict;
    struct check *c = check_new();
    struct history h = {0};
    char error[256] = "", *said = NULL;
    size_t size;
    FILE *out = open_memstream(&said, &size);

    assert_non_null(out);
    if (!history_parse(&h, text, error, sizeof(error)))
        fail_msg("%s", error);
    check_judge(c, &h, &options, &verdict);
    check_print(out, &h, &verdict);
    *json = check_to_json(&h, &verdict);
    assert_int_equal(fclose(out), 0);
    history_free(&h);
    check_free(c);
    return said;
}

#define OVERLAP                                                                        \
    "10 p1 t1 acquire a -> 11 ok until=40 id=7\n"                                      \
    "12 p2 t2 acquire a -> 13 ok until=40 id=8\n"

static const json_t *example_of(const json_t *json, const char *who)
{
    const json_t *findings = json_object_get(json, "findings"), *finding;
    size_t i;

    json_array_foreach(findings, i, finding)
        if (strcmp(json_string_value(json_object_get(finding, "property")), "exclusion") == 0)
            return json_object_get(
                json_array_get(json_object_get(finding, "examples"), 0), who);
    fail_msg("exclusion was not judged");
    return NULL;
}

TEST_WITH(make_dir, remove_dir, a_finding_names_the_traces_of_both_holders)
{
    json_t *json;
    char *said = say(OVERLAP "11 p1 t1 trace " TRACE " id=7\n"
                             "13 p2 t2 trace " OTHER " id=8\n"
                             "13 p2 t2 trace second id=8\n", &json);
    const json_t *culprit = json_object_get(example_of(json, "broken_by"), "traces");
    const json_t *victim = json_object_get(example_of(json, "beside"), "traces");

    assert_non_null(strstr(said, ", traces " OTHER ", second, beside the acquire of "));
    assert_non_null(strstr(said, ", trace " TRACE "\n"));
    assert_int_equal(json_array_size(culprit), 2);
    assert_string_equal(json_string_value(json_array_get(culprit, 0)), OTHER);
    assert_int_equal(json_array_size(victim), 1);
    assert_string_equal(json_string_value(json_array_get(victim, 0)), TRACE);
    json_decref(json);
    free(said);
}

TEST_WITH(make_dir, remove_dir, a_hold_without_a_trace_has_none)
{
    json_t *json;
    char *said = say(OVERLAP "13 p2 t2 trace " OTHER " id=8\n"
                             "13 p2 t1 trace stranger id=7\n", &json);

    assert_null(strstr(said, "stranger"));
    assert_null(json_object_get(example_of(json, "beside"), "traces"));
    json_decref(json);
    free(said);
    said = say("10 p1 t1 acquire a -> 11 ok until=40\n"
               "12 p2 t2 acquire a -> 13 ok until=40\n"
               "13 p2 t2 trace spectre id=0\n", &json);
    assert_null(strstr(said, "spectre"));
    json_decref(json);
    free(said);
}

TEST_WITH(make_dir, remove_dir, more_traces_than_fit_are_counted)
{
    char text[1024] = OVERLAP;
    json_t *json;
    char *said;

    for (int i = 0; i < 8; i++)
        (void)sprintf(text + strlen(text), "13 p2 t2 trace n%d id=8\n", i);
    said = say(text, &json);
    assert_non_null(strstr(said, ", traces n0, n1, n2, n3, n4 and 3 more, beside"));
    assert_int_equal(
        json_array_size(json_object_get(example_of(json, "broken_by"), "traces")), 8);
    json_decref(json);
    free(said);
}

/* A recorder writes no such id, but anybody can write a file. */
TEST_WITH(make_dir, remove_dir, an_id_that_is_no_text_does_not_reach_the_terminal)
{
    json_t *json;
    char *said = say(OVERLAP "13 p2 t2 trace \x1b[31m\xff id=8\n", &json);

    assert_null(strchr(said, '\x1b'));
    assert_non_null(strstr(said, "[31m"));
    json_decref(json);
    free(said);
}

TEST_WITH(make_dir, remove_dir, a_trace_in_a_text_needs_its_hold)
{
    struct history h = {0};
    char error[256];

    assert_false(history_parse(&h, OVERLAP "13 p2 t2 trace x\n", error, sizeof(error)));
    assert_string_equal(error, "line 3: a trace needs the id= of its hold");
    history_free(&h);
}
