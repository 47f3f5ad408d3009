/* SPDX-License-Identifier: MIT */
/* cluster_redirects.c -- locks in a Redis Cluster whose nodes redirect commands in circles, to
 * invalid addresses, or to nodes that do not answer. Each call ends in time, with the right status
 * and the node's words. */
#include "tests/registered.h"
#include "tests/topology/fake_nodes.h"

#include <fcntl.h>

enum { HASTY_MS = 20, PATIENT_MS = 6000, AGAIN_MS = 20 };

static dlock_system *sys;
static dlock_lease lease;
static atomic_bool is_over;

static int begin(void **state)
{
    (void)start_nodes(state);
    return open_locks("owner", TIMEOUT_MS, &sys) == DLOCK_OK ? 0 : 1;
}

static int end(void **state)
{
    dlock_close(sys);
    sys = NULL;
    return stop_nodes(state);
}

static int slot(void)
{
    return redis_slot_of(NAME);
}

static void assert_error_has(const char *text)
{
    if (strstr(dlock_error(), text) == NULL)
        fail_msg("\"%s\" is not in: %s", text, dlock_error());
}

/* No call gets the lock, with and without a wait. */
static void assert_taken_never(dlock_status expected, const char *because)
{
    assert_int_equal(expected, take(sys, 0, &lease));
    assert_error_has(because);
    assert_int_equal(expected, take(sys, 700, &lease));
    assert_error_has(because);
}

/* The nodes serve the slot again: the library keeps nothing of their earlier answers. */
static void assert_taken_again(void)
{
    for (int i = 0; i < NODES; i++)
        say(i, ON_LOCK, "+OK\r\n");
    assert_int_equal(DLOCK_OK, take(sys, 5000, &lease));
}

TEST_WITH(begin, end, each_node_names_the_other)
{
    dlock_metrics metrics;
    char text[80];

    for (int i = 0; i < NODES; i++)
        sayf(i, ON_LOCK, "-MOVED %d 127.0.0.1:%d\r\n", slot(), nodes[1 - i].port);
    assert_taken_never(DLOCK_IO, "MOVED");
    assert_error_has("redirect");
    snprintf(text, sizeof(text), "127.0.0.1:%d", nodes[1].port);
    assert_error_has(text);
    dlock_metrics_read(sys, &metrics);
    assert_in_range(metrics.redirects_moved, 2, heard(ON_LOCK));
    assert_in_range(metrics.map_refreshes, 2, heard(ON_LOCK) + 100);
    assert_int_equal(0, metrics.redirects_ask);
    assert_taken_again();
}

TEST_WITH(begin, end, a_node_names_itself)
{
    sayf(0, ON_LOCK, "-MOVED %d 127.0.0.1:%d\r\n", slot(), nodes[0].port);
    assert_taken_never(DLOCK_IO, "MOVED");
    assert_taken_again();
}

TEST_WITH(begin, end, each_node_sends_to_ask_the_other)
{
    dlock_metrics metrics;

    for (int i = 0; i < NODES; i++)
        sayf(i, ON_LOCK, "-ASK %d 127.0.0.1:%d\r\n", slot(), nodes[1 - i].port);
    assert_taken_never(DLOCK_IO, "ASK");
    dlock_metrics_read(sys, &metrics);
    assert_in_range(metrics.redirects_ask, 16, heard(ON_LOCK));
    assert_int_equal(0, metrics.redirects_moved);
    assert_taken_again();
}

TEST_WITH(begin, end, a_slot_moves_for_ever)
{
    dlock_metrics metrics;

    sayf(0, ON_LOCK, "-ASK %d 127.0.0.1:%d\r\n", slot(), nodes[1].port);
    say(1, ON_LOCK, "-TRYAGAIN Multiple keys request during rehashing of slot\r\n");
    assert_taken_never(DLOCK_IO, "TRYAGAIN");
    dlock_metrics_read(sys, &metrics);
    assert_in_range(metrics.redirects_try_again, 2, heard(ON_LOCK));
    assert_taken_again();
}

TEST_WITH(begin, end, the_cluster_is_down_for_ever)
{
    dlock_metrics metrics;

    say(0, ON_LOCK, "-CLUSTERDOWN The cluster is down\r\n");
    assert_taken_never(DLOCK_IO, "CLUSTERDOWN The cluster is down");
    dlock_metrics_read(sys, &metrics);
    assert_in_range(metrics.redirects_cluster_down, 2, heard(ON_LOCK));
    assert_taken_again();
}

/* After the node has stopped naming that port, a later call must not go to it. */
TEST_WITH(begin, end, a_node_names_a_port_at_which_nobody_listens)
{
    char text[80];

    sayf(0, ON_LOCK, "-MOVED %d 127.0.0.1:1\r\n", slot());
    assert_taken_never(DLOCK_IO, "127.0.0.1:1: ");
    snprintf(text, sizeof(text), "127.0.0.1:%d: MOVED %d 127.0.0.1:1", nodes[0].port, slot());
    assert_error_has(text);
    say(0, ON_LOCK, "+OK\r\n");
    assert_int_equal(DLOCK_OK, take(sys, 0, &lease)); /* without a wait, so it makes one attempt */
}

TEST_WITH(begin, end, a_node_names_a_node_that_is_silent)
{
    sayf(0, ON_LOCK, "-MOVED %d 127.0.0.1:%d\r\n", slot(), nodes[1].port);
    say(1, ON_LOCK, NULL);
    assert_taken_never(DLOCK_UNKNOWN, "had led there");
    assert_taken_again();
}

/* After most of the timeout the first node sends the command to a silent node. */
static void *redirect_late(void *arg)
{
    int asked = *(const int *)arg + 3 * PATIENT_MS / 4 / AGAIN_MS;

    while (atomic_load(&nodes[0].heard[ON_LOCK]) < asked && !atomic_load(&is_over))
        dlock_clock_sleep_until(dlock_clock_after(dlock_clock_ns(), 1));
    sayf(0, ON_LOCK, "-MOVED %d 127.0.0.1:%d\r\n", slot(), nodes[1].port);
    return NULL;
}

/* Each TRYAGAIN takes AGAIN_MS at least.  On a machine that is so slow that the call ends before
 * the redirect, the call ends in its time too. */
TEST_WITH(begin, end, a_silent_node_at_the_end_of_a_way_has_no_timeout_of_its_own)
{
    int heard_before = atomic_load(&nodes[0].heard[ON_LOCK]);
    dlock_system *patient = NULL;
    pthread_t thread;
    int64_t begun_ns;

    assert_int_equal(DLOCK_OK, open_locks("lua", PATIENT_MS, &patient));
    assert_int_equal(DLOCK_OK, take(patient, 5000, &lease));
    say(0, ON_LOCK, "-TRYAGAIN Multiple keys request during rehashing of slot\r\n");
    say(1, ON_LOCK, NULL);
    atomic_store(&is_over, false);
    assert_int_equal(0, pthread_create(&thread, NULL, redirect_late, &heard_before));
    begun_ns = dlock_clock_ns();
    assert_true(dlock_is_failure(dlock_renew(patient, &lease)));
    assert_in_range((dlock_clock_ns() - begun_ns) / DLOCK_NS_PER_MS, PATIENT_MS / 2,
                    PATIENT_MS + PATIENT_MS / 4 + SLACK_MS / 2);
    atomic_store(&is_over, true);
    pthread_join(thread, NULL);
    dlock_close(patient);
}

TEST_WITH(begin, end, a_place_that_is_none_is_refused)
{
    static const char *const PLACES[] = {"127.0.0.1:0", "127.0.0.1:", "127.0.0.1:70000",
                                         "127.0.0.1", ":", "", "a b:7000", "127.0.0.1:7x"};
    char text[80], longest[400];

    snprintf(text, sizeof(text), "127.0.0.1:%d: ", nodes[0].port);
    for (size_t i = 0; i < sizeof(PLACES) / sizeof(PLACES[0]); i++) {
        sayf(0, ON_LOCK, "-MOVED %d %s\r\n", slot(), PLACES[i]);
        assert_taken_never(DLOCK_PROTOCOL, "the redirect names no node");
        assert_error_has(text);
    }
    memset(longest, 'h', sizeof(longest));
    for (size_t i = 60; i < sizeof(longest) - 1; i += 61)
        longest[i] = '.';
    longest[sizeof(longest) - 1] = '\0';
    sayf(0, ON_LOCK, "-ASK %d %s:7000\r\n", slot(), longest);
    assert_taken_never(DLOCK_PROTOCOL, "the redirect names no node");
    say(0, ON_LOCK, "-MOVED\r\n");
    assert_int_equal(DLOCK_PROTOCOL, take(sys, 0, &lease));
    assert_taken_again();
}

/* The name is no valid host name, so the library asks no name server. */
TEST_WITH(begin, end, a_host_that_is_not_known_is_named)
{
    sayf(0, ON_LOCK, "-MOVED %d no..host:7000\r\n", slot());
    assert_taken_never(DLOCK_IO, "no..host:7000: ");
    assert_error_has("had led there");
    assert_taken_again();
}

TEST_WITH(begin, end, a_redirect_for_another_slot_is_refused)
{
    char text[80];

    snprintf(text, sizeof(text), "the command was for slot %d", slot());
    sayf(0, ON_LOCK, "-MOVED %d 127.0.0.1:%d\r\n", slot() - 1, nodes[1].port);
    assert_taken_never(DLOCK_PROTOCOL, text);
    sayf(0, ON_LOCK, "-ASK 99999999999999999999 127.0.0.1:%d\r\n", nodes[1].port);
    assert_taken_never(DLOCK_PROTOCOL, text);
    assert_taken_again();
}

TEST_WITH(begin, end, a_host_that_is_left_out_is_that_of_the_node)
{
    static const char *const HOSTS[] = {"", "?"};

    for (size_t i = 0; i < sizeof(HOSTS) / sizeof(HOSTS[0]); i++) {
        int before = atomic_load(&nodes[1].heard[ON_LOCK]);

        sayf(0, ON_LOCK, "-MOVED %d %s:%d\r\n", slot(), HOSTS[i], nodes[1].port);
        assert_int_equal(DLOCK_OK, take(sys, 5000, &lease));
        assert_true(atomic_load(&nodes[1].heard[ON_LOCK]) > before);
    }
}

TEST_WITH(begin, end, a_node_closes_in_the_middle_of_an_answer)
{
    say(0, ON_LOCK, "+O\x01");
    assert_taken_never(DLOCK_UNKNOWN, "127.0.0.1");
    sayf(0, ON_LOCK, "-MOVED %d 127.0.0.1:\x01", slot());
    assert_taken_never(DLOCK_UNKNOWN, "127.0.0.1");
    assert_taken_again();
}

TEST_WITH(begin, end, a_node_answers_its_list_and_nothing_else)
{
    dlock_system *other = NULL;
    int64_t begun_ns = dlock_clock_ns();

    say(0, ON_LOCK, NULL);
    assert_taken_never(DLOCK_UNKNOWN, "127.0.0.1");
    say(0, ON_PING, NULL);
    begun_ns = dlock_clock_ns();
    assert_int_equal(DLOCK_IO, open_locks("owner", TIMEOUT_MS, &other));
    assert_error_has("127.0.0.1");
    assert_true(dlock_clock_ns() - begun_ns < (2 * TIMEOUT_MS + SLACK_MS) * DLOCK_NS_PER_MS);
    assert_taken_again();
}

static int descriptor_count(void)
{
    int count = 0;

    for (int fd = 0; fd < 4096; fd++)
        count += fcntl(fd, F_GETFD) >= 0;
    return count;
}

/* Each named address keeps a descriptor, so the library limits their number. */
TEST_WITH(begin, end, a_node_names_ever_new_places)
{
    dlock_system *hasty = NULL;
    dlock_status st = DLOCK_IO;
    int before = descriptor_count(), calls = 0;

    while (open_locks("owner", HASTY_MS, &hasty) != DLOCK_OK)
        continue;
    sayf(0, ON_LOCK, "-MOVED %d 127.0.0.1:\x02\r\n", slot());
    while (st != DLOCK_NOMEM && calls++ < 3000)
        st = dlock_acquire(hasty, NAME, 0, &lease);
    assert_int_equal(DLOCK_NOMEM, st);
    assert_error_has("start the program anew");
    assert_in_range(descriptor_count() - before, 0, 700);
    dlock_close(hasty);
    assert_in_range(descriptor_count(), 0, before + 4);
}

/* A waiter for a held lock subscribes, and the nodes redirect the subscription too. */
TEST_WITH(begin, end, a_subscription_that_comes_to_nothing_delays_nobody)
{
    static const char YES[] = "*3\r\n$10\r\nssubscribe\r\n$37\r\n" CHANNEL "\r\n:1\r\n";
    static const char NO[] = "*3\r\n$12\r\nsunsubscribe\r\n$37\r\n" CHANNEL "\r\n:0\r\n";
    char both[300], moved[80];
    const char *lies[] = {"+OK\r\n", "-ERR no\r\n", moved, NULL, YES, both, NO, "*3\r\n$1\x01",
                          "rubbish\r\n", "\x01", "*1\r\n:7\r\n"};
    dlock_system *waiter = NULL;

    assert_int_equal(37, strlen(CHANNEL));
    snprintf(both, sizeof(both), "%s%s", YES, NO);
    snprintf(moved, sizeof(moved), "-MOVED %d 127.0.0.1:%d\r\n", slot(), nodes[0].port);
    say(0, ON_LOCK, ":5000\r\n");
    for (size_t i = 0; i < sizeof(lies) / sizeof(lies[0]); i++) {
        int before = heard(ON_SUBSCRIBE);

        say(0, ON_SUBSCRIBE, lies[i]);
        assert_int_equal(DLOCK_OK, open_locks("reentrant", 5000, &waiter));
        assert_int_equal(DLOCK_TIMEOUT, take(waiter, 1000, &lease));
        assert_true(heard(ON_SUBSCRIBE) > before);
        dlock_close(waiter);
    }
}
