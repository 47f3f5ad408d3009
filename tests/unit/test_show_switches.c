/* SPDX-License-Identifier: MIT */
/* test_show_switches.c -- the flags with which the live page starts the service. */
#include <string.h>

#include "loadtest/show/switches.h"
#include "tests/registered.h"

static const struct show_switches SWITCHES = {
    .lock = "reentrant",
    .scope = "voucher",
    .stock_guard = "read-write",
    .duplicate_guard = "none",
    .watchdog = "on",
    .order_path = "each",
    .users = "different",
    .lease_ms = 1500,
    .processes = 2,
    .connections = 16,
    .stock = 1000,
};

static int count_of(const struct show_flags *flags, const char *flag)
{
    int count = 0;

    for (size_t i = 0; flags->list[i] != NULL; i++)
        count += strcmp(flags->list[i], flag) == 0;
    return count;
}

TEST(the_switches_of_the_service_become_flags)
{
    struct show_flags flags;

    show_flags_make(&flags, &SWITCHES);
    assert_int_equal(1, count_of(&flags, "--lock=reentrant"));
    assert_int_equal(1, count_of(&flags, "--stock-guard=read-write"));
    assert_int_equal(1, count_of(&flags, "--lock-lease=1500ms"));
    assert_int_equal(0, count_of(&flags, "--stock=1000"));
}

TEST(the_command_line_has_the_flags_of_the_laboratory)
{
    char line[SHOW_COMMAND_MAX];

    show_command_line(line, &SWITCHES, 60000, 0);
    assert_non_null(strstr(line, " --locks=reentrant "));
    assert_non_null(strstr(line, " --limit=60000ms"));
}

/* By default PostgreSQL ends an idle transaction after 20 s, and a frozen process has an idle
 * transaction. */
TEST(a_frozen_process_can_write_for_ten_minutes)
{
    struct show_flags flags;

    show_flags_make(&flags, &SWITCHES);
    assert_int_equal(1, count_of(&flags, "--idle-transaction-timeout=10m"));
}
