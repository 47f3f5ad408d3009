/* SPDX-License-Identifier: MIT */
/* test_connections.c -- the choice of the connection that is ended when there is no room, on real
 * sockets. */
#include <arpa/inet.h>
#include <poll.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "app/metrics.h"
#include "tests/registered.h"

enum { DESCRIPTORS = 256, MANY = 8 };

static struct connections *table;
static int ours[MANY], theirs[MANY]; /* the service's ends, and the clients' ends */

static void make(int64_t open, int64_t per_address, const uint32_t *fronts, size_t count)
{
    const struct connections_limits limits = {
        .open = {open, 1},
        .per_address = per_address,
        .fronts = fronts,
        .front_count = count,
    };

    table = connections_new(DESCRIPTORS, &limits);
    assert_non_null(table);
    for (int i = 0; i < MANY; i++) {
        int pair[2];

        assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, pair), 0);
        ours[i] = pair[0];
        theirs[i] = pair[1];
    }
}

static void unmake(void)
{
    for (int i = 0; i < MANY; i++) {
        connections_remove(table, connections_find(table, ours[i]));
        (void)close(ours[i]);
        (void)close(theirs[i]);
    }
    connections_free(table);
}

static struct connection *add(int i, const char *address)
{
    assert_true(connections_add(table, 0, ours[i], inet_addr(address)));
    return connections_find(table, ours[i]);
}

/* Has the client seen the end of its connection? */
static bool is_ended(int i)
{
    struct pollfd p = {.fd = theirs[i], .events = POLLIN, .revents = 0};

    return poll(&p, 1, 0) == 1 && (p.revents & (POLLIN | POLLHUP)) != 0;
}

TEST(the_one_that_was_idle_for_longest_makes_room)
{
    make(3, 0, NULL, 0);
    for (int i = 0; i < 3; i++)
        (void)add(i, "127.0.0.1");
    assert_true(connection_enter(connections_find(table, ours[0]), CONNECTION_HEAD));
    assert_false(connections_are_crowded(table, 0));
    (void)add(3, "127.0.0.1");
    assert_true(is_ended(1));
    assert_false(connections_are_crowded(table, 0));
    (void)add(4, "127.0.0.1");
    assert_true(is_ended(2));
    (void)add(5, "127.0.0.1");
    assert_true(is_ended(0));
    assert_false(is_ended(3) || is_ended(4) || is_ended(5));
    unmake();
}

TEST(a_request_in_progress_is_never_ended)
{
    struct connection *working;

    make(1, 0, NULL, 0);
    working = add(0, "127.0.0.1");
    assert_true(connection_enter(working, CONNECTION_WORKING));
    (void)add(1, "127.0.0.1");
    assert_false(is_ended(0) || is_ended(1));
    assert_true(connections_are_crowded(table, 0));
    (void)add(2, "127.0.0.1");
    assert_false(is_ended(0) || is_ended(2));
    assert_true(is_ended(1));
    connections_end_idle(table, 0);
    assert_false(is_ended(0));
    assert_true(is_ended(2));
    assert_true(connection_enter(working, CONNECTION_ANSWERING));
    connections_end_idle(table, 60000);
    assert_false(is_ended(0));
    connections_end_idle(table, -1);
    assert_true(is_ended(0));
    unmake();
}

TEST(nothing_is_worked_for_one_that_was_ended)
{
    struct connection *first;

    make(1, 0, NULL, 0);
    first = add(0, "127.0.0.1");
    (void)add(1, "127.0.0.1");
    assert_true(is_ended(0));
    assert_false(connection_enter(first, CONNECTION_BODY));
    assert_false(connection_enter(first, CONNECTION_WORKING));
    unmake();
}

/* The number of a closed descriptor may belong to another file by now. */
TEST(one_that_was_removed_is_left_alone)
{
    make(1, 0, NULL, 0);
    connections_remove(table, add(0, "127.0.0.1"));
    assert_null(connections_find(table, ours[0]));
    (void)add(1, "127.0.0.1");
    (void)add(2, "127.0.0.1");
    assert_false(is_ended(0));
    assert_true(is_ended(1));
    assert_false(connections_add(table, 0, DESCRIPTORS, 1));
    assert_null(connections_find(table, DESCRIPTORS));
    assert_null(connections_find(table, -1));
    unmake();
}

TEST(an_address_makes_room_for_itself)
{
    struct connection *fourth;

    make(100, 2, NULL, 0);
    (void)add(0, "10.0.0.1");
    (void)add(1, "10.0.0.2");
    (void)add(2, "10.0.0.2");
    (void)add(3, "10.0.0.2");
    assert_true(is_ended(1));
    assert_false(is_ended(0) || is_ended(2) || is_ended(3));
    (void)connection_enter(connections_find(table, ours[2]), CONNECTION_WORKING);
    (void)connection_enter(connections_find(table, ours[3]), CONNECTION_WORKING);
    fourth = add(4, "10.0.0.2");
    assert_true(fourth->is_over);
    assert_false(add(5, "10.0.0.1")->is_over);
    unmake();
}

TEST(loopback_and_fronts_are_not_bounded)
{
    const uint32_t fronts[] = {inet_addr("10.0.0.9"), inet_addr("10.0.0.2")};

    make(100, 1, fronts, 2);
    for (int i = 0; i < MANY; i++)
        assert_false(add(i, i % 2 == 0 ? "10.0.0.2" : "127.1.2.3")->is_over);
    for (int i = 0; i < MANY; i++)
        assert_false(is_ended(i));
    unmake();
}

TEST(every_end_is_counted_by_its_reason)
{
    struct metrics_facts facts = {.lock = ""};
    struct metrics *m = metrics_new();
    struct text out = {0};

    assert_non_null(m);
    make(2, 0, NULL, 0);
    for (int i = 0; i < 3; i++)
        (void)add(i, "127.0.0.1");
    (void)connection_enter(connections_find(table, ours[1]), CONNECTION_WORKING);
    connections_remove(table, connections_find(table, ours[0]));
    connections_read_stats(table, &facts.connections);
    metrics_write(m, &facts, &out);
#define LINE(name, label, count)                                                       \
    assert_non_null(strstr(out.bytes, "seckill_http_connections" name                  \
                                      "{listener=\"orders\"," label "} " count "\n"))
    LINE("_ended_total", "reason=\"crowded\"", "1");
    LINE("_ended_total", "reason=\"client\"", "0");
    LINE("", "state=\"working\"", "1");
    LINE("", "state=\"no-request-yet\"", "1");
#undef LINE
    text_free(&out);
    metrics_free(m);
    unmake();
}
