/* SPDX-License-Identifier: MIT */
/* liar.c -- every lock in Redis, PostgreSQL, etcd and ZooKeeper with a lying server: each kind of
 * wrong answer at each step of each call, and of the opening of a connection.
 *
 *     liar [PATTERN...]     the variants whose names fit a shell pattern (default: all)
 *
 * The server is a real one behind a proxy that replaces one answer; for ZooKeeper it stands in
 * place of the client library (zookeeper_server.c).  A lock that another owner
 * holds must not be granted, unless the wrong answer was a well-formed grant; no call may send
 * commands without end; and afterwards the system has to work. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
/* cmocka.h needs the four headers above. */
#include <cmocka.h>
#include <fnmatch.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/os/utf8.h"
#include "tests/liar/rig.h"

enum {
    WAIT_MS = 5,
    STEPS_MAX = 16,
    /* PostgreSQL's passwords take long, so each step gets a quarter of the wrong answers. */
    OPENING_STRIDE = 4,
    ANSWERS_MOST = 60, /* of a call with its clean-up and its pauses, if it takes no time */
    ANSWER_MS = 4,     /* and another for each of so many milliseconds: the watchdog's,
                        * polls.  A call that asks without a pause gets dozens in them. */
    LIMIT_S = 890,
    TESTS_MAX = 64,
};

/* The calls that are made, whatever they answer. The wrong answer is sent at one step of a call. */
enum call {
    OPEN,
    TAKE,
    WAIT,
    TAKE_FREE,
    TAKE_AGAIN,
    RENEW,
    GIVE_BACK_ONE,
    GIVE_BACK,
    INSPECT,
    FORCE,
    CALL_COUNT
};

static bool is_possible(const struct rig *rig, enum call call)
{
    unsigned caps = dlock_variant_find(rig->of->variant)->caps;

    if (call == TAKE_FREE)
        return caps & DLOCK_CAP_FENCED;
    if (call == TAKE_AGAIN || call == GIVE_BACK_ONE)
        return caps & DLOCK_CAP_REENTRANT;
    return call != RENEW || (caps & DLOCK_CAP_RENEW);
}

/* The lock of the calls, with up to two levels. */
struct subject {
    const char *name;
    dlock_lease levels[2];
    int level_count;
};

static dlock_status open_and_close(const struct rig *rig)
{
    dlock_options opts = rig_options(rig->of, rig->of->liar);
    dlock_system *sys = NULL;
    dlock_status st = dlock_open(&sys, &opts);

    if ((st == DLOCK_OK) != (sys != NULL))
        fail_msg("an open answered %s and %s system", dlock_status_id(st),
                 sys != NULL ? "a" : "no");
    dlock_close(sys);
    return st;
}

static dlock_status take(struct rig *rig, struct subject *subject, int wait_ms)
{
    dlock_status st = dlock_acquire(rig->sys, subject->name, wait_ms,
                                    &subject->levels[subject->level_count]);

    subject->level_count += st == DLOCK_OK;
    return st;
}

/* Whatever a store says, a program can print it as one line. */
static void assert_printable(const char *text)
{
    char clean[512];

    utf8_show(text, clean, sizeof(clean));
    if (strcmp(text, clean) != 0)
        fail_msg("no printable text: %s", clean);
}

static dlock_status look(const struct rig *rig, const char *name)
{
    dlock_info info = {0};
    dlock_status st = dlock_inspect(rig->sys, name, &info);

    assert_printable(info.owner);
    assert_printable(info.next_owner);
    return st;
}

static dlock_status perform(enum call call, struct rig *rig, struct subject *subject)
{
    switch (call) {
    case OPEN:
        return open_and_close(rig);
    case TAKE:
    case TAKE_FREE:
    case TAKE_AGAIN:
        return take(rig, subject, 0);
    case WAIT:
        return take(rig, subject, WAIT_MS);
    case RENEW:
        return dlock_renew(rig->sys, &subject->levels[0]);
    case GIVE_BACK_ONE:
    case GIVE_BACK:
        return dlock_release(rig->sys, &subject->levels[--subject->level_count]);
    case INSPECT:
        return look(rig, subject->name);
    default:
        return dlock_force_release(rig->sys, subject->name);
    }
}

/* Acquire the levels with which the call begins. */
static void prepare(struct rig *rig, enum call call, struct subject *subject)
{
    int level_count = call == OPEN || call == TAKE_FREE ? 0 : call == GIVE_BACK_ONE ? 2 : 1;

    script_be_honest();
    while (subject->level_count < level_count)
        rig_take_free(rig->sys, subject->name, &subject->levels[subject->level_count++]);
}

/* The fence must be a number that a database accepts; above the first epoch, if there are
 * epochs. */
static void assert_fence(const struct rig *rig, const dlock_lease *lease,
                         const struct lie *lie)
{
    if (lease->fence == 0 || lease->fence > INT64_MAX ||
        (rig->of->has_epochs && lease->fence <= UINT32_MAX))
        fail_msg("the fence is %llu after \"%s\"", (unsigned long long)lease->fence,
                 lie->name);
}

/* Send a wrong answer at one step of `call`. Returns false if the call has no such step. */
static bool call_lied_to(struct rig *rig, enum call call, struct subject *subject,
                         int step, bool is_cold, const struct lie *lie,
                         const dlock_lease *held)
{
    char asked[SCRIPT_ASKED_SIZE];
    int64_t begin_ms = rig_now_ms();
    dlock_status st;
    bool has_lied;

    if (is_cold)
        script_hang_up();
    script_lie(step, lie);
    st = perform(call, rig, subject);
    assert_printable(dlock_error());
    has_lied = script_has_lied(asked);
    if (st == DLOCK_OK && rig_is_held(rig, held) &&
        !(has_lied && rig->of->liar->is_grant(lie, asked)))
        fail_msg("granted by \"%s\" in answer to %s", lie->name, asked);
    if (call == TAKE_FREE && st == DLOCK_OK)
        assert_fence(rig, &subject->levels[0], lie);
    if (script_answer_count() > ANSWERS_MOST + (rig_now_ms() - begin_ms) / ANSWER_MS)
        fail_msg("call %d, step %d: %d answers after \"%s\"", (int)call, step,
                 script_answer_count(), lie->name);
    if (has_lied)
        rig_assert_works(rig->sys);
    script_be_honest();
    return has_lied;
}

static bool try_lie(struct rig *rig, enum call call, int step, bool is_cold,
                    const struct lie *lie)
{
    bool is_taken = call == TAKE || call == WAIT;
    char name[48];
    struct subject subject = {.name = name};
    dlock_lease held;
    bool has_lied;

    snprintf(name, sizeof(name), "%s", rig_new_name());
    if (!is_taken)
        prepare(rig, call, &subject);
    else
        rig_take_free(rig->other, name, &held);
    has_lied = call_lied_to(rig, call, &subject, step, is_cold, lie,
                            is_taken ? &held : NULL);
    if (is_taken)
        (void)dlock_release(rig->other, &held);
    while (subject.level_count > 0)
        (void)dlock_release(rig->sys, &subject.levels[--subject.level_count]);
    return has_lied;
}

static int tell_lies(struct rig *rig, enum call call, bool is_cold)
{
    const struct lie *lies;
    size_t lie_count = rig->of->liar->lies(&lies);
    bool is_part = (call == OPEN || is_cold) && rig->of->liar == &stores[POSTGRES];
    size_t stride = is_part ? OPENING_STRIDE : 1;
    int told_count = 0;

    for (int step = 1, told = 1; told > 0 && step <= STEPS_MAX; step++) {
        told = 0;
        for (size_t i = (size_t)step % stride; i < lie_count; i += stride)
            told += try_lie(rig, call, step, is_cold, &lies[i]);
        told_count += told;
    }
    return told_count;
}

/* Answers may arrive in pieces of any size: here byte by byte, also while the connection is
 * opened. */
static void reads_single_bytes(struct rig *rig)
{
    struct subject subject = {.name = rig_new_name()};
    dlock_lease lease;
    dlock_info info;

    script_be_honest();
    script_send_bytes(true);
    script_hang_up();
    rig_take_free(rig->sys, subject.name, &subject.levels[0]);
    if (is_possible(rig, TAKE_AGAIN)) {
        assert_int_equal(DLOCK_OK, dlock_acquire(rig->sys, subject.name, 0, &lease));
        assert_int_equal(DLOCK_OK, dlock_release(rig->sys, &lease));
    }
    if (is_possible(rig, RENEW))
        assert_int_equal(DLOCK_OK, dlock_renew(rig->sys, &subject.levels[0]));
    assert_int_equal(DLOCK_BUSY, dlock_acquire(rig->other, subject.name, 0, &lease));
    assert_int_equal(DLOCK_OK, dlock_inspect(rig->sys, subject.name, &info));
    assert_true(info.locked);
    assert_int_equal(DLOCK_OK, dlock_release(rig->sys, &subject.levels[0]));
    script_send_bytes(false);
}

/* A message that arrives before a command was sent is no answer. A held lock must not be granted by
 * it, neither at once nor by later answers that are shifted by one. Only a well-formed grant that
 * arrives after a command was sent cannot be told from an answer. */
static void hears_nothing_unasked(struct rig *rig)
{
    const struct lie *lies;
    size_t lie_count = rig->of->liar->lies(&lies);
    char asked[SCRIPT_ASKED_SIZE];
    dlock_lease held, lease;
    char name[48];

    script_be_honest();
    for (size_t i = 0; i < lie_count; i++) {
        snprintf(name, sizeof(name), "%s", rig_new_name());
        rig_take_free(rig->other, name, &held);
        script_send_unasked(&lies[i]);
        for (int n = 0; n < 2; n++) {
            dlock_status st = dlock_acquire(rig->sys, name, 0, &lease);

            script_last_asked(asked);
            if (st == DLOCK_OK && rig_is_held(rig, &held) &&
                (n > 0 || !rig->of->liar->is_grant(&lies[i], asked)))
                fail_msg("granted by \"%s\", which nobody asked for", lies[i].name);
            if (st == DLOCK_OK)
                (void)dlock_release(rig->sys, &lease);
            rig_assert_works(rig->sys);
        }
        (void)dlock_release(rig->other, &held);
    }
}

static void believes_no_lie(void **state)
{
    const struct lie *lies;
    struct rig rig;
    bool has_bytes;
    int told_count = 0;

    rig_begin(&rig, *state);
    has_bytes = rig.of->liar->real_variable != NULL;
    if (has_bytes) {
        reads_single_bytes(&rig);
        hears_nothing_unasked(&rig);
    }
    for (int call = 0; call < CALL_COUNT; call++)
        for (int is_cold = 0; is_cold < (has_bytes ? 2 : 1); is_cold++)
            if (is_possible(&rig, (enum call)call) && (!is_cold || call == TAKE))
                told_count += tell_lies(&rig, (enum call)call, is_cold);
    assert_true(told_count > 2 * (int)rig.of->liar->lies(&lies));
    rig_end(&rig);
}

static bool fits(const char *name, int pattern_count, char **patterns)
{
    for (int i = 0; i < pattern_count; i++)
        if (fnmatch(patterns[i], name, 0) == 0)
            return true;
    return pattern_count == 0;
}

static struct subject_of_lies subjects[TESTS_MAX];
static struct CMUnitTest tests[TESTS_MAX];
static size_t test_count;

static void add_test(const char *variant, struct store *liar, bool has_epochs)
{
    struct subject_of_lies *of = &subjects[test_count];

    *of = (struct subject_of_lies){variant, liar, has_epochs, ""};
    snprintf(of->name, sizeof(of->name), "%s%s, lied to by %s", variant,
             has_epochs ? " with epochs" : "", liar->name);
    tests[test_count++] = (struct CMUnitTest){
        .name = of->name, .test_func = believes_no_lie, .initial_state = of};
}

static void add_tests(int pattern_count, char **patterns)
{
    for (size_t i = 0; i < dlock_variant_count(); i++) {
        const char *variant = dlock_variant_at(i)->name;

        if (rig_store_of(variant) == NULL || !fits(variant, pattern_count, patterns) ||
            test_count + 3 > TESTS_MAX)
            continue;
        add_test(variant, rig_store_of(variant), false);
        if (rig_store_of(variant) == &stores[ZOOKEEPER]) {
            add_test(variant, &stores[ZOOKEEPER], false);
            tests[test_count - 1].test_func = believes_no_session;
        }
        if (strcmp(variant, "fenced") != 0)
            continue;
        add_test(variant, &stores[REDIS], true);
        add_test(variant, &stores[POSTGRES], true);
    }
}

int main(int argc, char **argv)
{
    int failed;

    for (size_t i = 0; i < STORE_COUNT; i++)
        if (stores[i].real_variable != NULL && getenv(stores[i].real_variable) == NULL) {
            puts("Bail out! the environment of a lab is not set: . .lab/env");
            return 69;
        }
    add_tests(argc - 1, argv + 1);
    alarm(LIMIT_S); /* a call that hangs ends the program */
    if (!rig_start_servers())
        return 70;
    cmocka_set_message_output(CM_OUTPUT_TAP);
    failed = _cmocka_run_group_tests("liar", tests, test_count, NULL, NULL);
    rig_stop_servers();
    return failed == 0 ? 0 : 1;
}
