/* SPDX-License-Identifier: MIT */
/* cluster_lists.c -- locks in a Redis Cluster whose nodes answer CLUSTER NODES with
 * malformed, too long, incomplete or changing texts. */
#include "tests/registered.h"
#include "tests/topology/fake_nodes.h"

enum { SLOTS_TEXT = 120000, LINE = 100000, OPEN_MS = 1000 };

static dlock_lease lease;

static void assert_error_has(const char *text)
{
    if (strstr(dlock_error(), text) == NULL)
        fail_msg("\"%s\" is not in: %s", text, dlock_error());
}

/* Opening fails within its time, and the error names the node and the mistake in its list. */
static void assert_refused(const char *because)
{
    int64_t begun_ns = dlock_clock_ns(), begun_cpu_ms = cpu_ms(), ms;
    int lists = heard(ON_NODES);
    dlock_system *sys = NULL;
    char node[40];

    snprintf(node, sizeof(node), "127.0.0.1:%d: ", nodes[0].port);
    assert_int_equal(strstr(because, "disabled") != NULL ? DLOCK_PROTOCOL : DLOCK_IO,
                     open_locks("owner", OPEN_MS, &sys));
    assert_null(sys);
    ms = (dlock_clock_ns() - begun_ns) / DLOCK_NS_PER_MS;
    print_message("# in %d ms, %d lists: %s\n", (int)ms, heard(ON_NODES) - lists, dlock_error());
    assert_error_has(node);
    assert_error_has(because);
    assert_in_range(ms, 0, OPEN_MS + SLACK_MS);
    assert_in_range(cpu_ms() - begun_cpu_ms, 0, ms / 2 + 300);
    assert_in_range(heard(ON_NODES) - lists, 1, 20 + ms / 20);
}

/* The system can be opened, and grants the lock. */
static void assert_used(void)
{
    dlock_system *sys = NULL;

    assert_int_equal(DLOCK_OK, open_locks("owner", 10 * TIMEOUT_MS, &sys));
    assert_int_equal(DLOCK_OK, take(sys, 0, &lease));
    dlock_close(sys);
}

TEST_WITH(start_nodes, stop_nodes, rubbish_is_refused)
{
    static const struct {
        const char *answer, *because;
    } LIES[] = {
        {"$5\r\nhello\r\n", "line 1 of its CLUSTER NODES cannot be read"},
        {"$0\r\n\r\n", "names no node"},
        {"$-1\r\n", "is no text"},
        {":7\r\n", "is no text"},
        {"+OK\r\n", "is no text"},
        {"*2\r\n$1\r\na\r\n$1\r\nb\r\n", "is no text"},
        {"-ERR This instance has cluster support disabled\r\n", "cluster support disabled"},
        {"-LOADING Redis is loading the dataset in memory\r\n", "LOADING"},
        {"hello\r\n", "not Redis"},
        {"$99999999999\r\n", "answer"},
        {"$-7\r\n", ""},
        {"$1000\r\naaaa\x01", ""},
        {"\x01", ""},
        {NULL, "answer"},
    };

    for (size_t i = 0; i < sizeof(LIES) / sizeof(LIES[0]); i++) {
        say(0, ON_NODES, LIES[i].answer);
        assert_refused(LIES[i].because);
    }
}

/* A list that is cut is refused, unless the cut is at the end of a word of slots. */
TEST_WITH(start_nodes, stop_nodes, a_line_that_is_cut_is_refused)
{
    char list[256];
    int len = node_line(list, sizeof(list), 'a', nodes[0].port, "myself,master", 1, "0-16383");

    for (int cut = 1; cut < len - (int)strlen(" connected 0-16383\n"); cut += 17) {
        char shorter[256];

        snprintf(shorter, sizeof(shorter), "%.*s", cut, list);
        say_list(shorter);
        assert_refused("line 1 of its CLUSTER NODES cannot be read");
    }
}

TEST_WITH(start_nodes, stop_nodes, lists_that_are_too_long_are_refused)
{
    size_t size = 20000 * 128;
    char *list = malloc(size);
    size_t len = 0;

    assert_non_null(list);
    for (int i = 0; i < 20000; i++)
        len += (size_t)snprintf(list + len, size - len,
                                "%040d 10.0.0.1:6379@16379 slave %040d 0 0 1 connected\n", i, 0);
    say_list(list);
    assert_refused("a reply of over 1048576 bytes");
    list[2000 * 100] = '\0';
    say_list(list);
    assert_refused("the cluster has more than 256 nodes");
    memset(list, 'x', LINE);
    list[LINE] = '\0';
    say_list(list);
    assert_refused("line 1 of its CLUSTER NODES cannot be read");
    free(list);
}

/* A list that names each slot by itself has 98 kB, and is correct. */
TEST_WITH(start_nodes, stop_nodes, slots_that_are_named_one_by_one_are_read)
{
    char *list = malloc(2 * SLOTS_TEXT);
    char *slots = malloc(SLOTS_TEXT);
    size_t len = 0, list_len = 0;

    assert_non_null(list);
    assert_non_null(slots);
    for (int i = 0; i < NODES; i++) {
        len = 0;
        for (int slot = i; slot < REDIS_SLOT_COUNT; slot += NODES)
            len += (size_t)snprintf(slots + len, SLOTS_TEXT - len, "%d ", slot);
        slots[len - 1] = '\0';
        list_len += (size_t)node_line(list + list_len, 2 * SLOTS_TEXT - list_len, (char)('a' + i),
                                      nodes[i].port, "master", i, slots);
    }
    say_list(list);
    assert_used();
    free(slots);
    free(list);
}

TEST_WITH(start_nodes, stop_nodes, slots_that_nobody_has_are_named)
{
    dlock_system *sys = NULL;

    say_slots("", 2, "", 1);
    assert_int_equal(DLOCK_IO, open_locks("owner", TIMEOUT_MS, &sys));
    assert_error_has("no node has a slot");
    say_slots("0-4", 2, "", 1);
    assert_int_equal(DLOCK_OK, open_locks("owner", TIMEOUT_MS, &sys));
    assert_int_equal(DLOCK_IO, take(sys, 0, &lease));
    assert_error_has("no node has slot");
    assert_int_equal(DLOCK_IO, take(sys, 700, &lease));
    say_slots("0-16383", 2, "", 1);
    assert_int_equal(DLOCK_OK, take(sys, 5000, &lease));
    dlock_close(sys);
}

/* The map keeps the entries of the higher epoch, and the nodes redirect. */
TEST_WITH(start_nodes, stop_nodes, a_list_of_lower_epochs_delays_nobody)
{
    dlock_system *sys = NULL;

    say_slots("0-16383", 9, "", 8);
    assert_int_equal(DLOCK_OK, open_locks("owner", TIMEOUT_MS, &sys));
    assert_int_equal(DLOCK_OK, take(sys, 0, &lease));
    say_slots("", 1, "0-16383", 2);
    sayf(0, ON_LOCK, "-MOVED %d 127.0.0.1:%d\r\n", redis_slot_of(NAME), nodes[1].port);
    for (int i = 0; i < 5; i++)
        assert_int_equal(DLOCK_OK, take(sys, 5000, &lease));
    assert_true(atomic_load(&nodes[1].heard[ON_LOCK]) >= 5);
    dlock_close(sys);
}
