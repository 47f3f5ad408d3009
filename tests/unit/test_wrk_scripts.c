/* SPDX-License-Identifier: MIT */
/* test_wrk_scripts.c -- parts of the scripts of wrk, in a wrk that sends nothing.
 *
 * wrk runs a script of the test, which loads the scripts of loadtest/wrk, prints, and ends wrk
 * before its first connection. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <fcntl.h>
#include <inttypes.h>
#include <sched.h>
#include <stdbool.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/os/clock.h"
#include "base/text/duration.h"
#include "tests/unit/scratch.h"

#ifndef CLONE_NEWTIME
#define CLONE_NEWTIME 0x80
#endif

enum { SAID_MAX = 4096 };

static char dir[SCRATCH_SIZE];

static int make_dir(void **state)
{
    (void)state;
    scratch_make(dir, "wrk");
    return 0;
}

static int remove_dir(void **state)
{
    (void)state;
    scratch_remove(dir);
    return 0;
}

static void write_file(const char *name, const char *text)
{
    char path[SCRATCH_SIZE + 32];
    FILE *file;

    snprintf(path, sizeof path, "%s/%s", dir, name);
    file = fopen(path, "w");
    assert_non_null(file);
    assert_true(fputs(text, file) >= 0);
    assert_int_equal(fclose(file), 0);
}

/* Run the Lua text in wrk; `said` gets what it prints. */
static void run(const char *lua, char said[SAID_MAX])
{
    char command[256];
    size_t length;
    FILE *from;

    write_file("test.lua", lua);
    snprintf(command, sizeof command,
             "SECKILL_TOKENS=%s/tokens.txt wrk -s %s/test.lua http://127.0.0.1:1 2>&1", dir, dir);
    from = popen(command, "r");
    assert_non_null(from);
    length = fread(said, 1, SAID_MAX - 1, from);
    said[length] = '\0';
    assert_true(pclose(from) >= 0);
}

/* ---- the clock ---- */

/* In place of the time, the script gets the number of the clock that it asks for. */
static void the_scripts_read_the_clock_of_the_laboratory(void **state)
{
    char said[SAID_MAX], expected[32];

    (void)state;
    run("local ffi = require('ffi')\n"
        "local function time(clock, out) out.sec, out.nsec = clock, 0 end\n"
        "local C = setmetatable({ clock_gettime = time }, { __index = ffi.C })\n"
        "package.loaded.ffi = setmetatable({ C = C }, { __index = ffi })\n"
        "print(dofile('loadtest/wrk/seckill.lua').now_us() / 1e6)\n"
        "os.exit(0)\n",
        said);
    snprintf(expected, sizeof expected, "%d\n", (int)DLOCK_CLOCK_ID);
    assert_string_equal(said, expected);
}

/* The children of this process live on a machine that has slept for a day.  False: the kernel does
 * not allow a namespace of the time. */
static bool let_children_have_slept(void)
{
    static const char offset[] = "boottime 86400 0\n";
    int fd;
    bool ok;

    if (unshare(CLONE_NEWTIME) != 0 && unshare(CLONE_NEWUSER | CLONE_NEWTIME) != 0)
        return false;
    fd = open("/proc/self/timens_offsets", O_WRONLY | O_CLOEXEC);
    ok = fd >= 0 && write(fd, offset, sizeof offset - 1) == (ssize_t)sizeof offset - 1;
    if (fd >= 0)
        close(fd);
    return ok;
}

static bool is_between_two_times_of_ours(void)
{
    int64_t before_us = monotonic_ns() / 1000;
    char said[SAID_MAX];

    run("print(string.format('%.0f', dofile('loadtest/wrk/seckill.lua').now_us()))\n"
        "os.exit(0)\n",
        said);
    print_message("# %" PRId64 " <= %s", before_us, said);
    return before_us <= strtoll(said, NULL, 10) && strtoll(said, NULL, 10) <= monotonic_ns() / 1000;
}

/* Without the namespace, this test sees the wrong clock on a machine that has slept; the test above
 * sees it on every machine. */
static void times_can_be_subtracted_after_the_machine_slept(void **state)
{
    int status = -1;
    pid_t outer = fork();

    (void)state;
    if (outer == 0) {
        pid_t inner;

        if (!let_children_have_slept())
            print_message("# no namespace of the time\n");
        inner = fork();
        if (inner == 0)
            _exit(is_between_two_times_of_ours() ? 0 : 1);
        _exit(inner > 0 && waitpid(inner, &status, 0) == inner && status == 0 ? 0 : 1);
    }
    assert_true(outer > 0);
    assert_int_equal(waitpid(outer, &status, 0), outer);
    assert_int_equal(status, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_scripts_read_the_clock_of_the_laboratory),
        cmocka_unit_test(times_can_be_subtracted_after_the_machine_slept),
    };

    return cmocka_run_group_tests(tests, make_dir, remove_dir);
}
