/* SPDX-License-Identifier: MIT */
/* liar.c -- every lock in Redis against a server that lies: each kind of reply at each
 * step of each call.
 *
 * The server is a real Redis behind a wire that replaces one answer.  A lock that another
 * owner holds must not be granted, unless the lie was a grant in due form; no call may
 * send commands without end; and afterwards the system has to work. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
/* cmocka.h needs these four first. */
#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "lock/dlock.h"
#include "tests/liar/server.h"

enum {
    TIMEOUT_MS = 2000,
    WAIT_MS = 5,
    STEPS_MAX = 12,
    COMMANDS_MOST = 60, /* of one call, its cleaning up and its pauses */
    LIMIT_S = 110,
    PATIENCE_MS = 20000,
};

#define LIE(bytes) {bytes, sizeof(bytes) - 1, false}
#define CUT(bytes) {bytes, sizeof(bytes) - 1, true}

static const struct lie {
    const char *bytes;
    size_t len;
    bool then_close;
} lies[] = {
    LIE("+OK\r\n"), LIE("+QUEUED\r\n"), LIE("+\r\n"), LIE("+abc\r\n"), LIE("+OK\0more\r\n"),
    LIE("-ERR no\r\n"), LIE("-NOSCRIPT No\r\n"), LIE("-READONLY no\r\n"),
    LIE("-MOVED 1 127.0.0.1:1\r\n"), LIE("-LOADING wait\r\n"), LIE("-BUSY script\r\n"),
    LIE("-OOM no\r\n"), LIE("-WRONGTYPE no\r\n"), LIE("-\r\n"),
    LIE(":0\r\n"), LIE(":1\r\n"), LIE(":2\r\n"), LIE(":-1\r\n"), LIE(":-2\r\n"),
    LIE(":-3\r\n"), LIE(":-4\r\n"), LIE(":-5\r\n"), LIE(":9223372036854775807\r\n"),
    LIE(":-9223372036854775808\r\n"), LIE(":99999999999999999999\r\n"), LIE(":1x\r\n"),
    LIE("$-1\r\n"), LIE("$0\r\n\r\n"), LIE("$1\r\n0\r\n"), LIE("$1\r\n7\r\n"),
    LIE("$20\r\n18446744073709551615\r\n"), LIE("$3\r\nabc\r\n"), LIE("$3\r\n1\0002\r\n"),
    LIE("$-7\r\n"), LIE("*0\r\n"), LIE("*-1\r\n"), LIE("*1\r\n:1\r\n"), LIE("*1\r\n$-1\r\n"),
    LIE("*2\r\n:1\r\n:1\r\n"), LIE("*1\r\n*1\r\n*1\r\n:1\r\n"), LIE("*-7\r\n"),
    LIE("_\r\n"), LIE("#t\r\n"), LIE(",1.5\r\n"), LIE("%0\r\n"), LIE("HTTP/1.1 200 OK\r\n\r\n"),
    LIE("*3\r\n$7\r\nmessage\r\n$1\r\nc\r\n$1\r\n0\r\n"), LIE("$-1\r\n$-1\r\n"),
    LIE("+OK\r\n+OK\r\n"), LIE(":1\r\n:1\r\n"),
    CUT(""), CUT("$-"), CUT("$100\r\nab"), CUT("*2\r\n:1\r\n"), CUT("$536870911\r\nx"),
    CUT("*2147483647\r\n"),
};

enum { LIE_COUNT = sizeof(lies) / sizeof(lies[0]) };

/* Is the lie a grant in due form, in answer to that command? */
static bool is_grant(const struct lie *lie, const char *verb)
{
    if (strncmp(verb, "EVAL", 4) == 0)
        return strncmp(lie->bytes, "$-1\r\n", 5) == 0 ||
               strcmp(lie->bytes, "$1\r\n7\r\n") == 0;
    if (strcmp(verb, "SET") == 0)
        return strncmp(lie->bytes, "+OK\r\n", 5) == 0;
    return strncmp(lie->bytes, ":1\r\n", 4) == 0; /* SETNX */
}

static const char *url;
static unsigned drawn;

static const char *new_name(void)
{
    static char name[48];

    snprintf(name, sizeof(name), "liar:%d:%u", (int)getpid(), drawn++);
    return name;
}

static dlock_system *open_system(const char *variant, const char *redis_url)
{
    dlock_options opts = dlock_options_default();
    dlock_system *sys = NULL;

    opts.variant = variant;
    opts.redis_url = opts.redlock_urls = redis_url;
    opts.watchdog = false;
    opts.redis_timeout_ms = opts.redlock_node_timeout_ms = TIMEOUT_MS;
    if (dlock_open(&sys, &opts) != DLOCK_OK)
        fail_msg("%s: %s", variant, dlock_error());
    return sys;
}

/* What is called, with whatever answer; the lie is told at one of its steps. */
enum call { TAKE, WAIT, RENEW, GIVE_BACK, INSPECT, FORCE, CALL_COUNT };

static dlock_status perform(enum call call, dlock_system *sys, const char *name,
                            dlock_lease *lease)
{
    dlock_info info;

    switch (call) {
    case TAKE:
        return dlock_acquire(sys, name, 0, lease);
    case WAIT:
        return dlock_acquire(sys, name, WAIT_MS, lease);
    case RENEW:
        return dlock_renew(sys, lease);
    case GIVE_BACK:
        return dlock_release(sys, lease);
    case INSPECT:
        return dlock_inspect(sys, name, &info);
    default:
        return dlock_force_release(sys, name);
    }
}

static int64_t now_ms(void)
{
    struct timespec ts;

    clock_gettime(CLOCK_MONOTONIC, &ts);
    return (int64_t)ts.tv_sec * 1000 + ts.tv_nsec / 1000000;
}

/* The connection serves again, or another one does. */
static void assert_works(dlock_system *sys)
{
    int64_t give_up_ms = now_ms() + PATIENCE_MS;
    dlock_lease lease;
    dlock_status st;

    liar_lie(0, "", 0, false);
    while ((st = dlock_acquire(sys, new_name(), 0, &lease)) != DLOCK_OK)
        if (now_ms() > give_up_ms)
            fail_msg("does not work any more: %s", dlock_error());
    (void)dlock_release(sys, &lease);
}

/* One lie at one step.  False: the call has no such step. */
static bool try_lie(dlock_system *sys, dlock_system *other, enum call call, int step,
                    const struct lie *lie)
{
    const char *name = new_name();
    bool is_held = call == TAKE || call == WAIT;
    dlock_lease held, lease = {0};
    char verb[16];
    dlock_status st;
    bool has_lied;

    liar_lie(0, "", 0, false);
    if (dlock_acquire(is_held ? other : sys, name, 0, is_held ? &held : &lease) != DLOCK_OK)
        fail_msg("the lock is not to be had: %s", dlock_error());
    liar_lie(step, lie->bytes, lie->len, lie->then_close);
    st = perform(call, sys, name, &lease);
    has_lied = liar_has_lied(verb);
    if (is_held && st == DLOCK_OK && !(has_lied && is_grant(lie, verb)))
        fail_msg("granted by %s in answer to %s", lie->bytes, verb);
    if (liar_command_count() > COMMANDS_MOST)
        fail_msg("%d commands after %s", liar_command_count(), lie->bytes);
    if (has_lied)
        assert_works(sys);
    if (is_held)
        (void)dlock_release(other, &held);
    if (call == RENEW || (is_held && st == DLOCK_OK))
        (void)dlock_release(sys, &lease);
    return has_lied;
}

static void believes_no_lie(void **state)
{
    const char *variant = *state;
    dlock_system *other = open_system(variant, getenv("SECKILL_REDIS_URL"));
    dlock_system *sys;
    int told_count = 0;

    liar_lie(0, "", 0, false); /* the last one may not have been told */
    sys = open_system(variant, url);
    for (int call = 0; call < CALL_COUNT; call++)
        for (int step = 1, lied = 1; lied > 0 && step <= STEPS_MAX; step++) {
            lied = 0;
            for (size_t i = 0; i < LIE_COUNT; i++)
                lied += try_lie(sys, other, (enum call)call, step, &lies[i]);
            told_count += lied;
        }
    assert_true(told_count > 2 * LIE_COUNT);
    dlock_close(sys);
    dlock_close(other);
}

int main(void)
{
    struct CMUnitTest tests[32];
    size_t count = 0;
    int failed;

    if (getenv("SECKILL_REDIS_URL") == NULL) {
        puts("Bail out! the environment of a lab is not set: . .lab/env");
        return 69;
    }
    alarm(LIMIT_S); /* a call that hangs ends the program */
    url = liar_start(getenv("SECKILL_REDIS_URL"));
    if (url == NULL)
        return 70;
    for (size_t i = 0; i < dlock_variant_count(); i++) {
        const dlock_variant_info *info = dlock_variant_at(i);

        if (strncmp(info->store, "redis", 5) == 0)
            tests[count++] = (struct CMUnitTest){
                .name = info->name, .test_func = believes_no_lie,
                .initial_state = (void *)(uintptr_t)info->name};
    }
    cmocka_set_message_output(CM_OUTPUT_TAP);
    failed = _cmocka_run_group_tests("liar", tests, count, NULL, NULL);
    liar_stop();
    return failed == 0 ? 0 : 1;
}
