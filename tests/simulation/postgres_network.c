/* SPDX-License-Identifier: MIT */
/* postgres_network.c -- packets on their way to the simulated PostgreSQL and back, and faults.
 *
 * Connections are never freed: a seed has few, and its process ends with it. */
#include "tests/simulation/postgres_network.h"

#include <stdlib.h>
#include <string.h>

#include "tests/simulation/postgres_backend.h"

struct postgres_server postgres_server;

static struct postgres_wire *wires; /* the newest first */
static int wire_count;
static int64_t held_until_ns[PROCESSES_MAX];

static void not_known(const char *text)
{
    world_condemn(NOT_KNOWN, "the model of PostgreSQL does not know: %s", text);
}

static int64_t now_us(void *server)
{
    (void)server;
    return site_wall_us(&postgres_server.site);
}

void postgres_network_begin(void)
{
    postgres_server.site.number = PROCESSES_MAX + SERVERS_MAX;
    postgres_server.site.offset_ns = chance_between(1, 1000) * SECOND;
    postgres_server.site.drift_ppb = chance_between(-200000, 200000);
    postgres_server.model.now_us = now_us;
    postgres_server.model.wake = postgres_backend_wake;
    postgres_server.model.not_known = not_known;
    postgres_model_begin(&postgres_server.model);
}

/* ---- packets ---- */

static int64_t hold_of(const struct postgres_wire *wire)
{
    int64_t until_ns = held_until_ns[wire->site->number];

    return until_ns > world.now_ns ? until_ns : 0;
}

void postgres_network_send(struct postgres_wire *wire, struct postgres_way *way,
                           struct postgres_packet packet)
{
    struct postgres_packet *sent = malloc(sizeof(*sent));
    int64_t at_ns = world.now_ns + chance_between(15000, 60000);

    (void)wire;
    if (sent == NULL)
        abort();
    if (chance_one_in(32))
        at_ns += chance_skewed(1000, 2 * MS);
    if (at_ns <= way->last_at_ns)
        at_ns = way->last_at_ns + 1;
    *sent = packet;
    way->last_at_ns = sent->at_ns = at_ns;
    sent->next = NULL;
    if (way->first == NULL)
        way->first = sent;
    else
        way->last->next = sent;
    way->last = sent;
    if (way->first == sent)
        event_plan(&way->arrival, at_ns);
}

static struct postgres_packet take_first(struct postgres_way *way)
{
    struct postgres_packet *first = way->first, packet = *first;

    way->first = first->next;
    free(first);
    if (way->first != NULL)
        event_plan(&way->arrival, way->first->at_ns);
    return packet;
}

static void lose(struct postgres_way *way)
{
    while (way->first != NULL)
        (void)take_first(way);
    event_drop(&way->arrival);
}

static void arrive_at_server(void *arg)
{
    struct postgres_wire *wire = arg;
    int64_t later_ns = hold_of(wire);
    struct postgres_packet packet;

    if (postgres_server.site.stands_until_ns > world.now_ns &&
        postgres_server.site.stands_until_ns > later_ns)
        later_ns = postgres_server.site.stands_until_ns;
    if (later_ns > 0) {
        event_plan(&wire->to_server.arrival, later_ns);
        return;
    }
    packet = take_first(&wire->to_server);
    trace("to-postgres", wire->number, packet.kind);
    if (packet.kind == POSTGRES_PACKET_OPEN)
        postgres_backend_open(wire);
    else if (packet.kind == POSTGRES_PACKET_MESSAGES)
        postgres_backend_give(wire, packet.messages);
    else
        postgres_backend_hang_up(wire);
}

static void arrive_at_client(void *arg)
{
    struct postgres_wire *wire = arg;
    struct postgres_answered **end = &wire->in;
    struct postgres_packet packet;

    if (hold_of(wire) > 0) {
        event_plan(&wire->to_client.arrival, hold_of(wire));
        return;
    }
    packet = take_first(&wire->to_client);
    trace("from-postgres", wire->number, packet.kind);
    if (packet.kind == POSTGRES_PACKET_OPENED && wire->state == POSTGRES_WIRE_OPENING)
        wire->state = POSTGRES_WIRE_OPEN;
    else if (packet.kind == POSTGRES_PACKET_REFUSED)
        wire->state = POSTGRES_WIRE_REFUSED;
    else if (packet.kind == POSTGRES_PACKET_END)
        wire->state = POSTGRES_WIRE_ENDED;
    while (*end != NULL)
        end = &(*end)->next;
    *end = packet.answers;
    if (!wire->is_closed)
        task_wake(wire->watcher);
}

struct postgres_wire *postgres_network_open(void)
{
    struct postgres_wire *wire = calloc(1, sizeof(*wire));

    if (wire == NULL)
        abort();
    wire->number = wire_count++;
    wire->site = task_here->site;
    wire->put_end = &wire->put;
    wire->out_end = &wire->out;
    wire->to_server.arrival = (struct event){.run = arrive_at_server, .arg = wire};
    wire->to_client.arrival = (struct event){.run = arrive_at_client, .arg = wire};
    wire->next = wires;
    wires = wire;
    postgres_network_send(wire, &wire->to_server,
                          (struct postgres_packet){.kind = POSTGRES_PACKET_OPEN});
    return wire;
}

/* ---- faults ---- */

void postgres_network_hold(int process, int64_t until_ns)
{
    held_until_ns[process] = until_ns;
}

static bool is_live(const struct postgres_wire *wire)
{
    return !wire->is_closed &&
           (wire->state == POSTGRES_WIRE_OPEN || wire->state == POSTGRES_WIRE_OPENING);
}

/* Choose an open connection by chance; NULL: there is none. */
static struct postgres_wire *pick_live(void)
{
    struct postgres_wire *at;
    int64_t count = 0;

    for (at = wires; at != NULL; at = at->next)
        count += is_live(at);
    if (count == 0)
        return NULL;
    count = chance_between(1, count);
    for (at = wires; at != NULL; at = at->next)
        if (is_live(at) && --count == 0)
            break;
    return at;
}

static struct postgres_packet end_packet(void)
{
    return (struct postgres_packet){.kind = POSTGRES_PACKET_END};
}

void postgres_network_cut(bool after)
{
    struct postgres_wire *wire = pick_live();

    if (wire == NULL)
        return;
    trace("cut-postgres", wire->number, after);
    tell("connection %d to PostgreSQL is cut%s", wire->number,
         after ? " behind what was sent" : "");
    if (!after)
        lose(&wire->to_server);
    lose(&wire->to_client);
    postgres_network_send(wire, &wire->to_server, end_packet());
    postgres_network_send(wire, &wire->to_client, end_packet());
}

void postgres_network_delay_one(int64_t until_ns)
{
    struct postgres_wire *wire = pick_live();

    if (wire != NULL && wire->to_server.last_at_ns < until_ns)
        wire->to_server.last_at_ns = until_ns;
}

void postgres_network_end_process(const struct site *site)
{
    for (struct postgres_wire *at = wires; at != NULL; at = at->next)
        if (at->site == site && !at->is_closed) {
            at->is_closed = true;
            postgres_network_send(at, &at->to_server, end_packet());
        }
}

static void rise_again(void *server)
{
    (void)server;
    postgres_server.is_down = false;
    tell("PostgreSQL is up again");
}

void postgres_network_bring_down(bool in_order, int64_t for_ns)
{
    static struct event rise = {.run = rise_again};

    tell("PostgreSQL %s, for %d ms", in_order ? "is stopped" : "crashes", (int)(for_ns / MS));
    for (struct postgres_wire *at = wires; at != NULL; at = at->next) {
        lose(&at->to_server);
        if (at->session != NULL)
            postgres_backend_end(at, in_order ? "57P01" : NULL);
        else if (is_live(at))
            postgres_network_send(at, &at->to_client, end_packet());
    }
    postgres_model_crash(&postgres_server.model, !in_order && chance_one_in(2));
    postgres_server.is_down = true;
    event_plan(&rise, world.now_ns + for_ns);
}
