/* SPDX-License-Identifier: MIT */
/* test_redis_hold.c -- the requests that links in a group delay, and for how long.
 *
 * This file defines the clock_gettime() of the C library and the functions of base/redis/wire.h,
 * so that the test controls the clock and the network. */
#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/redis/driver.h"
#include "base/redis/link.h"
#include "base/redis/link_inside.h"
#include "tests/registered.h"

#define PING "*1\r\n$4\r\nPING\r\n"
#define PONG "+PONG\r\n"

enum { NODES = 2, HELD_NS = 500000, MANY = 20, TIMEOUT_MS = 1000 };

/* ---- the clock and the network ---- */

static int64_t now_ns;

int clock_gettime(clockid_t id, struct timespec *ts)
{
    (void)id;
    *ts = (struct timespec){.tv_sec = (time_t)(now_ns / 1000000000),
                            .tv_nsec = now_ns % 1000000000};
    return 0;
}

/* The connection to a node. The port in a link's URL is the index of its connection. */
struct redis_wire {
    int send_count;
    size_t sent_len;
    size_t room_len;     /* the bytes that it accepts now */
    int reply_count;     /* the replies that can be received */
};

static struct redis_wire wires[NODES];
static int64_t slept_until_ns; /* the end of the driver's sleep */

struct redis_wire *redis_wire_open(const struct redis_url *url, char why[REDIS_WHY_SIZE])
{
    why[0] = '\0';
    return &wires[url->port];
}

const char *redis_wire_why(const struct redis_wire *wire, int error)
{
    (void)wire;
    return error == 0 ? "the server closed the connection" : strerror(error);
}

const char *redis_wire_silence(const struct redis_wire *wire)
{
    (void)wire;
    return "no answer in time";
}

ssize_t redis_wire_send(struct redis_wire *wire, const char *bytes, size_t len)
{
    (void)bytes;
    if (len == 0)
        return 0;
    if (wire->room_len == 0)
        return -EAGAIN;
    if (len > wire->room_len)
        len = wire->room_len;
    wire->send_count++;
    wire->sent_len += len;
    wire->room_len -= len;
    return (ssize_t)len;
}

ssize_t redis_wire_receive(struct redis_wire *wire, char *bytes, size_t size)
{
    size_t len = strlen(PONG);

    if (wire->reply_count == 0)
        return -EAGAIN;
    assert_true(size >= len);
    memcpy(bytes, PONG, len);
    wire->reply_count--;
    return (ssize_t)len;
}

ssize_t redis_wire_await(struct redis_wire *wire, char *bytes, size_t size)
{
    return redis_wire_receive(wire, bytes, size);
}

_Bool redis_wire_wait(struct redis_wire_look *looks, size_t count, int event_fd, int64_t until_ns)
{
    (void)event_fd;
    for (size_t i = 0; i < count; i++)
        looks[i].seen = 0;
    slept_until_ns = until_ns;
    now_ns = until_ns;
    return false;
}

void redis_wire_cut(struct redis_wire *wire)
{
    (void)wire;
}

void redis_wire_close(struct redis_wire *wire)
{
    (void)wire;
}

/* ---- links ---- */

static struct redis_link *links[NODES];
static struct redis_link_group *group;
static struct redis_wait waits[MANY];
static struct redis_leg legs[MANY];
static struct redis_request_leg trips[MANY];
static int asked_count;

/* A group with a driver that is awake. */
static int set_up(void **state)
{
    (void)state;
    now_ns = INT64_C(1000000000);
    asked_count = 0;
    memset(wires, 0, sizeof(wires));
    for (int i = 0; i < NODES; i++) {
        struct redis_url url = {.port = i, .host = "node", .label = "node"};

        wires[i].room_len = SIZE_MAX;
        links[i] = redis_link_new(i == 0 ? NULL : links[0], &url, TIMEOUT_MS, true);
        assert_non_null(links[i]);
        links[i]->conn = redis_conn_open(&links[i]->url);
        assert_non_null(links[i]->conn);
        assert_int_equal(0, redis_conn_advance(links[i]->conn));
        links[i]->is_ready = true;
    }
    group = links[0]->group;
    redis_link_group_lock(group);
    group->is_driven = true;
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    redis_link_group_unlock(group);
    for (int i = 0; i < NODES; i++)
        redis_link_close(links[i]);
    return 0;
}

/* Another caller sends a request to the first node, and wants it to be sent at once. */
static void ask(void)
{
    int n = asked_count++;

    waits[n] = (struct redis_wait){.open_count = 1};
    legs[n] = (struct redis_leg){.link = links[0], .shape = REDIS_SHAPE_PING};
    trips[n] = (struct redis_request_leg){.leg = &legs[n], .wait = &waits[n]};
    assert_true(redis_queue_add(&links[0]->queue, &trips[n], PING, strlen(PING), now_ns));
    redis_link_send(links[0]);
}

static bool is_all_sent(void)
{
    return wires[0].sent_len == (size_t)asked_count * strlen(PING);
}

/* ---- tests ---- */

TEST_WITH(set_up, tear_down, a_lone_request_is_sent_at_once)
{
    ask();
    assert_true(is_all_sent());
}

TEST_WITH(set_up, tear_down, what_comes_behind_it_leaves_in_one_go_with_its_answer)
{
    for (int i = 0; i < MANY; i++)
        ask();
    assert_int_equal(1, wires[0].send_count);
    wires[0].reply_count = 1;
    redis_link_hear(links[0]);
    redis_link_send(links[0]);
    assert_int_equal(2, wires[0].send_count);
    assert_true(is_all_sent());
}

TEST_WITH(set_up, tear_down, a_server_that_does_not_answer_gets_it_after_a_while)
{
    ask();
    now_ns += HELD_NS - 1;
    ask();
    assert_int_equal(1, wires[0].send_count);
    now_ns += 1;
    redis_link_send(links[0]);
    assert_int_equal(2, wires[0].send_count);
    now_ns += HELD_NS - 1; /* the delay begins again after each send */
    ask();
    assert_int_equal(2, wires[0].send_count);
    now_ns += 1;
    redis_link_send(links[0]);
    assert_int_equal(3, wires[0].send_count);
    assert_true(is_all_sent());
}

TEST_WITH(set_up, tear_down, the_driver_sleeps_no_longer_than_a_link_holds)
{
    struct redis_wait wait = {.open_count = 1, .role = REDIS_DRIVING};
    int64_t begin_ns = now_ns;

    ask();
    ask();
    redis_driver_drive(group, &wait, begin_ns + HELD_NS);
    assert_int_equal(begin_ns + HELD_NS, slept_until_ns);
    redis_driver_drive(group, &wait, begin_ns + HELD_NS);
    assert_true(is_all_sent());
}

TEST_WITH(set_up, tear_down, nothing_is_held_while_the_driver_sleeps)
{
    group->is_polling = true;
    ask();
    ask();
    assert_int_equal(2, wires[0].send_count);
    assert_true(is_all_sent());
}

TEST_WITH(set_up, tear_down, nothing_is_held_without_a_driver)
{
    group->is_driven = false;
    ask();
    ask();
    assert_true(is_all_sent());
}

TEST_WITH(set_up, tear_down, the_last_driver_sends_what_is_held)
{
    struct redis_wait wait = {.role = REDIS_DRIVING};

    ask();
    ask();
    assert_false(is_all_sent());
    redis_driver_leave(group, &wait);
    assert_true(is_all_sent());
}

TEST_WITH(set_up, tear_down, what_is_sent_for_nobody_is_not_held)
{
    struct redis_wait wait = {.role = REDIS_WAITING};

    ask();
    ask();
    redis_driver_send(group, &wait);
    assert_true(is_all_sent());
}

TEST_WITH(set_up, tear_down, half_a_request_is_not_held)
{
    ask();
    wires[0].reply_count = 1;
    redis_link_hear(links[0]);
    wires[0].room_len = 3;
    ask();
    assert_true(links[0]->is_full);
    wires[0].room_len = SIZE_MAX;
    links[0]->is_full = false;
    redis_link_send(links[0]);
    assert_true(is_all_sent());
}

TEST_WITH(set_up, tear_down, a_server_that_is_asked_alone_holds_nothing)
{
    redis_link_group_unlock(group);
    redis_link_close(links[1]);
    links[1] = NULL;
    redis_link_group_lock(group);
    ask();
    ask();
    assert_int_equal(2, wires[0].send_count);
}
