/* SPDX-License-Identifier: MIT */
/* wire.c -- base/redis/wire.h on the simulated network, in place of base/redis/wire.c. */
#include "base/redis/wire.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>

#include "base/os/clock.h"
#include "base/os/event.h"
#include "base/os/fiber.h"
#include "tests/simulation/network_inside.h"
#include "tests/simulation/os.h"

struct redis_wire *redis_wire_open(const struct redis_url *url, char why[REDIS_WHY_SIZE])
{
    int at = url->port - FIRST_PORT;

    why[0] = '\0';
    task_may_stall();
    if (at >= 0 && at < server_count)
        return network_open(&servers[at]);
    (void)snprintf(why, REDIS_WHY_SIZE, "there is no such simulated server");
    return NULL;
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

/* 0, or the error for which nothing can be sent. */
static int error_of(const struct redis_wire *wire)
{
    if (wire->is_cut)
        return EPIPE;
    switch (wire->state) {
    case WIRE_OPENING:
        return EAGAIN;
    case WIRE_REFUSED:
        return ECONNREFUSED;
    case WIRE_RESET:
        return ECONNRESET;
    case WIRE_ENDED: /* as with a kernel: the send succeeds, and the server drops the bytes */
    case WIRE_OPEN:
    default:
        return 0;
    }
}

ssize_t redis_wire_send(struct redis_wire *wire, const char *bytes, size_t len)
{
    int error;

    task_may_stall();
    error = error_of(wire);
    if (error != 0 || len == 0)
        return -error;
    if (network_short_one_in > 0 && chance_one_in(network_short_one_in))
        len = (size_t)chance_between(1, (int64_t)len);
    trace_bytes("send", wire->number, bytes, len);
    if (wire->state == WIRE_OPEN)
        network_send(wire, &wire->to_server, PACKET_DATA,
                     (struct bytes){(char *)(uintptr_t)bytes, len});
    return (ssize_t)len;
}

ssize_t redis_wire_receive(struct redis_wire *wire, char *bytes, size_t size)
{
    size_t len;

    task_may_stall();
    len = wire->in.len < size ? wire->in.len : size;
    if (len > 0) {
        memcpy(bytes, wire->in.at, len);
        buffer_take(&wire->in, len);
        trace("receive", wire->number, (int64_t)len);
        return (ssize_t)len;
    }
    if (wire->is_cut || wire->state == WIRE_ENDED)
        return 0;
    if (wire->state == WIRE_RESET || wire->state == WIRE_REFUSED)
        return -ECONNRESET;
    return -EAGAIN;
}

/* ---- waiting ---- */

void wire_changed(struct redis_wire *wire)
{
    for (size_t i = 0; i < WATCHERS_MAX; i++)
        task_wake(wire->watchers[i]);
    os_descriptor_changed(OS_FIRST_WIRE + wire->number);
}

static void watch(struct redis_wire *wire, struct task *from, struct task *to)
{
    for (size_t i = 0; i < WATCHERS_MAX; i++)
        if (wire->watchers[i] == from) {
            wire->watchers[i] = to;
            return;
        }
}

static unsigned seen_at(const struct redis_wire *wire)
{
    unsigned seen = 0;

    if (wire->is_cut || wire->in.len > 0 ||
        (wire->state != WIRE_OPEN && wire->state != WIRE_OPENING))
        seen |= REDIS_WIRE_CAN_RECEIVE;
    if (error_of(wire) != EAGAIN)
        seen |= REDIS_WIRE_CAN_SEND;
    return seen;
}

uint32_t network_events(int number)
{
    const struct redis_wire *wire = network_find(number);
    unsigned seen = wire != NULL && !wire->is_closed ? seen_at(wire) : 0;
    bool is_broken = seen != 0 && (wire->is_cut || (wire->state != WIRE_OPEN &&
                                                    wire->state != WIRE_OPENING));

    return (seen & REDIS_WIRE_CAN_RECEIVE ? POLLIN : 0U) |
           (seen & REDIS_WIRE_CAN_SEND ? POLLOUT : 0U) | (is_broken ? POLLHUP : 0U);
}

bool network_is_closed(int number)
{
    return network_find(number)->is_closed;
}

/* Wait as base/redis/wire.c does for a thread and a fiber. */
static bool wait_in_fiber(struct redis_wire_look *looks, size_t count, int event_fd,
                          int64_t until_ns)
{
    struct pollfd polled[REDIS_WIRE_LOOKS_MAX + 1];
    int found;

    for (size_t i = 0; i < count; i++)
        polled[i] = (struct pollfd){
            .fd = looks[i].wire != NULL ? OS_FIRST_WIRE + looks[i].wire->number : -1,
            .events = (short)((looks[i].wanted & REDIS_WIRE_CAN_RECEIVE ? POLLIN : 0) |
                              (looks[i].wanted & REDIS_WIRE_CAN_SEND ? POLLOUT : 0))};
    polled[count] = (struct pollfd){.fd = event_fd, .events = POLLIN};
    found = dlock_poll_until(polled, count + 1, until_ns);
    for (size_t i = 0; i < count; i++)
        looks[i].seen = (polled[i].revents & POLLOUT ? REDIS_WIRE_CAN_SEND : 0U) |
                        (polled[i].revents & ~POLLOUT ? REDIS_WIRE_CAN_RECEIVE : 0U);
    if (polled[count].revents != 0)
        dlock_event_clear(event_fd);
    return found > 0;
}

ssize_t redis_wire_await(struct redis_wire *wire, char *bytes, size_t size)
{
    if (!(seen_at(wire) & REDIS_WIRE_CAN_RECEIVE)) {
        watch(wire, NULL, task_here);
        (void)task_sleep(world.now_ns + REDIS_WIRE_SLICE_MS * MS);
        watch(wire, task_here, NULL);
    }
    return redis_wire_receive(wire, bytes, size);
}

static bool look(struct redis_wire_look *looks, size_t count, int event_fd)
{
    bool found = os_event_is_raised(event_fd);

    for (size_t i = 0; i < count; i++) {
        looks[i].seen = 0;
        if (looks[i].wire == NULL)
            continue;
        /* A broken connection is reported whatever the caller waits for. */
        looks[i].seen = seen_at(looks[i].wire) & (looks[i].wanted | REDIS_WIRE_CAN_RECEIVE);
        if (looks[i].wire->state == WIRE_OPEN && !looks[i].wire->is_cut)
            looks[i].seen &= looks[i].wanted;
        found = found || looks[i].seen != 0;
    }
    return found;
}

_Bool redis_wire_wait(struct redis_wire_look *looks, size_t count, int event_fd,
                      int64_t until_ns)
{
    bool found;

    if (dlock_fiber_here() != NULL && dlock_clock_ns() < until_ns)
        return wait_in_fiber(looks, count, event_fd, until_ns);
    found = look(looks, count, event_fd);
    task_may_stall();
    if (!found && site_clock_ns(task_here->site) < until_ns) {
        for (size_t i = 0; i < count; i++)
            if (looks[i].wire != NULL)
                watch(looks[i].wire, NULL, task_here);
        os_event_watch(event_fd, task_here);
        if (!look(looks, count, event_fd))
            (void)task_sleep(site_world_ns(task_here->site, until_ns));
        os_event_watch(event_fd, NULL);
        for (size_t i = 0; i < count; i++)
            if (looks[i].wire != NULL)
                watch(looks[i].wire, task_here, NULL);
        found = look(looks, count, event_fd);
    }
    if (os_event_is_raised(event_fd))
        dlock_event_clear(event_fd);
    return found;
}

void redis_wire_cut(struct redis_wire *wire)
{
    if (wire == NULL || wire->is_cut)
        return;
    wire->is_cut = true;
    if (wire->state == WIRE_OPEN)
        network_send(wire, &wire->to_server, PACKET_END, (struct bytes){0});
    wire_changed(wire);
}

void redis_wire_close(struct redis_wire *wire)
{
    if (wire == NULL)
        return;
    dlock_poll_forget(OS_FIRST_WIRE + wire->number);
    redis_wire_cut(wire);
    if (wire->state == WIRE_OPENING)
        network_send(wire, &wire->to_server, PACKET_END, (struct bytes){0});
    wire->is_closed = true;
}
