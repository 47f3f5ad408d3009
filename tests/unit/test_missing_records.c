/* SPDX-License-Identifier: MIT */
/* test_missing_records.c -- a process whose file of records is missing is a damage of the
 * history, if the run.json of the run names the process. */
#include "tests/registered.h"
#include "tests/unit/recorder_run.h"

#include <unistd.h>

static void write_run(const char *text)
{
    char path[FILES_PATH_MAX];

    files_join(path, dir, "run.json");
    assert_true(files_write(path, text));
}

static void record(const char *variant, const char *uuid)
{
    dlock_recorder_about about = {.variant = variant, .uuid = uuid, .caps = HISTORY_TEXT_CAPS};
    dlock_recorder *rec = NULL;

    assert_int_equal(DLOCK_OK, dlock_recorder_open(&rec, dir, &about));
    if (strcmp(variant, "laboratory") != 0)
        put_hold(rec, "a", 1);
    dlock_recorder_close(rec);
}

/* The verdict; `damage` is the first damage, or NULL. */
static void expect(enum verdict verdict, size_t damages, const char *damage)
{
    struct history h = read_back();

    history_note_missing(&h, dir);
    assert_int_equal(damages, h.damage_count);
    if (damage != NULL)
        assert_string_equal(damage, h.damages[0]);
    assert_int_equal(verdict, judge(&h));
    history_free(&h);
}

TEST_WITH(make_dir, remove_dir, a_whole_run_is_valid)
{
    char text[200];

    record("laboratory", "laboratory-1");
    record("lua", "one");
    record("lua", "two");
    snprintf(text, sizeof text, "{\"processes\": 2, \"pids\": {\"p1\": %d, \"p2\": %d}}",
             (int)getpid(), (int)getpid());
    write_run(text);
    expect(VERDICT_VALID, 0, NULL);
}

TEST_WITH(make_dir, remove_dir, a_run_from_before_the_pids_is_counted)
{
    record("laboratory", "laboratory-1");
    record("lua", "one");
    write_run("{\"processes\": 1}");
    expect(VERDICT_VALID, 0, NULL);
    write_run("{\"processes\": 2}");
    expect(VERDICT_UNKNOWN, 1,
           "the record of a process is missing: run.json says 2 processes, 1 file was found");
}

TEST_WITH(make_dir, remove_dir, a_missing_process_is_named)
{
    char text[200];

    record("laboratory", "laboratory-1");
    record("lua", "one");
    snprintf(text, sizeof text, "{\"processes\": 2, \"pids\": {\"p1\": %d, \"p2\": 1}}",
             (int)getpid());
    write_run(text);
    expect(VERDICT_UNKNOWN, 1,
           "the record of process p2 (pid 1) is missing: run.json says 2 processes, 1 file "
           "was found");
}

TEST_WITH(make_dir, remove_dir, a_second_file_of_another_process_stands_for_no_missing_one)
{
    char text[200];

    record("laboratory", "laboratory-1");
    record("lua", "one");
    record("lua", "one-again");
    snprintf(text, sizeof text, "{\"processes\": 2, \"pids\": {\"p1\": %d, \"p2\": 1}}",
             (int)getpid());
    write_run(text);
    expect(VERDICT_UNKNOWN, 1,
           "the record of process p2 (pid 1) is missing: run.json says 2 processes, 2 files "
           "were found");
}

TEST_WITH(make_dir, remove_dir, a_process_that_was_started_again_is_no_damage)
{
    record("laboratory", "laboratory-1");
    record("lua", "one");
    record("lua", "one-again");
    write_run("{\"processes\": 1}");
    expect(VERDICT_VALID, 0, NULL);
}

TEST_WITH(make_dir, remove_dir, a_missing_record_of_the_faults_is_a_damage)
{
    record("lua", "one");
    write_run("{\"processes\": 1}");
    expect(VERDICT_UNKNOWN, 1,
           "the record of the faults is missing: no file laboratory-*.dlockrec was found");
}

TEST_WITH(make_dir, remove_dir, without_run_json_nothing_is_missing)
{
    record("lua", "one");
    expect(VERDICT_VALID, 0, NULL);
}

TEST_WITH(make_dir, remove_dir, pids_of_other_names_and_types_name_no_process)
{
    record("laboratory", "laboratory-1");
    record("lua", "one");
    write_run("{\"processes\": 1, \"pids\": {\"p1\": \"x\", \"\\u001b[31m\": 7}}");
    expect(VERDICT_VALID, 0, NULL);
    write_run("{\"processes\": 1, \"pids\": [7]}");
    expect(VERDICT_VALID, 0, NULL);
}

TEST_WITH(make_dir, remove_dir, a_run_json_without_the_number_of_processes_is_a_damage)
{
    static const char *const texts[] = {"{}", "[]", "{\"processes\": \"2\"}",
                                        "{\"processes\": 0}"};

    record("laboratory", "laboratory-1");
    record("lua", "one");
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
        write_run(texts[i]);
        expect(VERDICT_UNKNOWN, 1,
               "run.json has no number of processes, so it is not known whether a record is "
               "missing");
    }
}

TEST_WITH(make_dir, remove_dir, a_run_json_that_ends_early_is_a_damage)
{
    record("laboratory", "laboratory-1");
    record("lua", "one");
    write_run("{\"processes\": 2, \"pids\": {\"p1\": 41,");
    expect(VERDICT_UNKNOWN, 1,
           "run.json cannot be read, so it is not known whether a record is missing");
    write_run("");
    expect(VERDICT_UNKNOWN, 1, NULL);
}

/* The file may be the record of the process. */
TEST_WITH(make_dir, remove_dir, beside_a_file_of_rubbish_nothing_is_missing_for_sure)
{
    char path[FILES_PATH_MAX], text[DLOCK_RECORD_HEADER_SIZE + 1];
    struct history h;

    record("laboratory", "laboratory-1");
    memset(text, 'x', sizeof text - 1);
    text[sizeof text - 1] = '\0';
    files_join(path, dir, "one" DLOCK_RECORD_SUFFIX);
    assert_true(files_write(path, text));
    write_run("{\"processes\": 1, \"pids\": {\"p1\": 1}}");
    h = read_back();
    history_note_missing(&h, dir);
    assert_int_equal(1, h.unread_count);
    assert_int_equal(1, h.nonsense_count);
    assert_int_equal(1, h.damage_count);
    history_free(&h);
}

/* The missing process released the lock, for which the waiter was woken. */
TEST_WITH(make_dir, remove_dir, a_release_that_may_be_in_the_missing_record_is_no_violation)
{
    dlock_recorder_about about = {
        .variant = "reentrant", .uuid = "one", .caps = HISTORY_TEXT_CAPS | DLOCK_CAP_PUSH};
    dlock_event wait = {.kind = DLOCK_EVENT_WAIT, .name = "a", .owner = 1};
    dlock_event wake = {.kind = DLOCK_EVENT_WAKE, .name = "a", .owner = 1, .detail = 1};
    dlock_recorder *rec = NULL;
    uint64_t call;

    record("laboratory", "laboratory-1");
    assert_int_equal(DLOCK_OK, dlock_recorder_open(&rec, dir, &about));
    call = begin(rec, DLOCK_EVENT_ACQUIRE, "a", 1);
    dlock_recorder_note(rec, &wait);
    for (int i = 0; i < 3; i++)
        dlock_recorder_note(rec, &wake);
    end(rec, 1, call);
    dlock_recorder_close(rec);
    write_run("{\"processes\": 1}");
    expect(VERDICT_INVALID, 0, NULL);
    write_run("{\"processes\": 2}");
    expect(VERDICT_UNKNOWN, 1, NULL);
}
