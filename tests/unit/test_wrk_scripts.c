/* SPDX-License-Identifier: MIT */
/* test_wrk_scripts.c -- parts of the scripts of wrk, in a wrk that sends nothing.
 *
 * wrk runs a script of the test, which loads the scripts of loadtest/wrk, prints, and ends wrk
 * before its first connection. */
#include <fcntl.h>
#include <inttypes.h>
#include <sched.h>
#include <stdbool.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/os/clock.h"
#include "base/text/duration.h"
#include "loadtest/sale/control.h"
#include "loadtest/sale/users.h"
#include "tests/registered.h"
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

/* Run the Lua text in wrk, with these variables; `said` gets what it prints. */
static void run_with(const char *variables, const char *lua, char said[SAID_MAX])
{
    char command[512];
    size_t length;
    FILE *from;

    write_file("test.lua", lua);
    snprintf(command, sizeof command,
             "SECKILL_TOKENS=%s/tokens.txt SECKILL_CONTROL=%s/control %s "
             "wrk -t1 -s %s/test.lua http://127.0.0.1:1 2>&1",
             dir, dir, variables, dir);
    from = popen(command, "r");
    assert_non_null(from);
    length = fread(said, 1, SAID_MAX - 1, from);
    said[length] = '\0';
    assert_true(pclose(from) >= 0);
}

static void run(const char *lua, char said[SAID_MAX])
{
    run_with("", lua, said);
}

/* ---- the clock ---- */

/* In place of the time, the script gets the number of the clock that it asks for. */
TEST(the_scripts_read_the_clock_of_the_laboratory)
{
    char said[SAID_MAX], expected[32];

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
TEST(times_can_be_subtracted_after_the_machine_slept)
{
    int status = -1;
    pid_t outer = fork();

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

/* ---- the users ---- */

static void write_tokens(int users)
{
    char line[96], *text = calloc((size_t)users + 1, sizeof line);

    assert_non_null(text);
    for (int user = 1; user <= users; user++) {
        snprintf(line, sizeof line, "%d 02010001%016x%016" PRIx64 "%032x\n", user, (unsigned)user,
                 INT64_C(4000000000), 0U);
        strcat(text, line);
    }
    write_file("tokens.txt", text);
    free(text);
}

/* A page of zeros, as the laboratory makes it. */
static void write_control(void)
{
    char path[SCRATCH_SIZE + 32];
    FILE *file;

    snprintf(path, sizeof path, "%s/control", dir);
    file = fopen(path, "w");
    assert_non_null(file);
    assert_int_equal(ftruncate(fileno(file), CONTROL_SIZE), 0);
    assert_int_equal(fclose(file), 0);
}

/* order() prints the user of the next request, "-" if the connection rests, with a "!" behind
 * them after the users have run out.  answer(n, outcome) is the answer to the request with this
 * number.  wrk asks for the first request once more than it sends. */
static const char order_script[] =
    "thread_id, run_id, wrk.headers.Host = 1, 'r', 'h'\n"
    "dofile('loadtest/wrk/order.lua')\n"
    "init({})\n"
    "request()\n"
    "local function order()\n"
    "    local token = request():match('authorization: (%x+)')\n"
    "    local page = io.open(os.getenv('SECKILL_CONTROL'), 'rb')\n"
    "    page:seek('set', 8 * (16 + 10))\n"
    "    io.write(' ', token and tonumber(token:sub(9, 24), 16) or '-',\n"
    "        page:read(1) == '\\1' and '!' or '')\n"
    "    page:close()\n"
    "end\n"
    "local function answer(n, outcome)\n"
    "    response(200, { ['X-Outcome'] = outcome, ['X-Request-Id'] = 'r-1-' .. n }, '')\n"
    "end\n";

static void orders_are_by(const char *variables, const char *what, const char *users)
{
    char script[sizeof order_script + 512], said[SAID_MAX];

    write_tokens(4);
    write_control();
    snprintf(script, sizeof script, "%s%s\nos.exit(0)\n", order_script, what);
    run_with(variables, script, said);
    assert_string_equal(said, users);
}

/* In a sale with a sound lock a user would then have two orders. */
TEST(a_user_who_may_have_bought_orders_no_more)
{
    orders_are_by("", "for _ = 1, 5 do order() end", " 2 3 4 1 -!");
    orders_are_by("",
                  "for _ = 1, 3 do order() end\n"
                  "answer(1, 'accepted') answer(2, 'lock-busy') answer(3, 'queued')\n"
                  "order() order() order()",
                  " 2 3 4 1 3 -!");
    orders_are_by("",
                  "for _ = 1, 4 do order() end\n"
                  "answer(2, 'unknown') answer(3, 'duplicate') answer(4, 'sold-out')\n"
                  "answer(1, 'internal') order() order()",
                  " 2 3 4 1 1 -!");
}

/* Requests without ids: nobody knows who has bought. */
TEST(users_without_ids_start_over)
{
    orders_are_by("SECKILL_IDS=off", "for _ = 1, 5 do order() end", " 2 3 4 1! 2!");
}

/* Lines differ in length where a digit more begins. */
TEST(each_user_is_in_one_part)
{
    char said[SAID_MAX];

    write_tokens(1200);
    run("local users = dofile('loadtest/wrk/users.lua')\n"
        "for parts = 1, 40 do\n"
        "    local seen, lines = 0, 0\n"
        "    for part = 1, parts do\n"
        "        local all = users.open(os.getenv('SECKILL_TOKENS'), part, parts)\n"
        "        for user, token, place in all.next, all do\n"
        "            local again, same = all:at(place)\n"
        "            assert(#token == 72 and user == seen + 1)\n"
        "            assert(again == user and same == token)\n"
        "            seen = user\n"
        "        end\n"
        "        lines = lines + all:count()\n"
        "    end\n"
        "    assert(seen == 1200 and lines == 1200)\n"
        "end\n"
        "print('good')\n"
        "os.exit(0)\n",
        said);
    assert_string_equal(said, "good\n");
}

/* One thread may sell all that is sold before the load ends. */
TEST(each_thread_has_users_for_the_whole_sale)
{
    static const int64_t stocks[] = {0, 100, 1000, 5000, 20000, 90000};

    for (size_t i = 0; i < sizeof stocks / sizeof stocks[0]; i++)
        for (int threads = 1; threads <= 2; threads++)
            assert_true(users_for_sale(stocks[i], 60000, threads) / threads >
                        USERS_STOCKS * stocks[i]);
    assert_int_equal(users_for_sale(1000, 10000, 2), 20000); /* by default: a quick start */
    assert_int_equal(users_for_sale(INT64_C(2000000000), 600000, 2), 1000000);
}

GROUP(make_dir, remove_dir)
