/* SPDX-License-Identifier: MIT */
/* network.c -- packets on their way, and the server's side of connections.
 *
 * Connections are never freed: a seed has few, and its process ends with it. */
#include "tests/simulation/network_inside.h"

#include <stdlib.h>
#include <string.h>

struct server servers[SERVERS_MAX];
int server_count;
uint32_t network_short_one_in;

static struct redis_wire *wires; /* the newest first */
static int wire_count;
static int64_t held_until_ns[PROCESSES_MAX][SERVERS_MAX];

static int64_t now_us(const struct model *model)
{
    const struct server *server = model->world;

    return site_wall_us(&server->site);
}

void network_prepare(void)
{
    for (int i = 0; i < SERVERS_MAX; i++) {
        servers[i].model.now_us = now_us;
        servers[i].model.world = &servers[i];
        servers[i].site.number = PROCESSES_MAX + i;
    }
}

void network_begin(int count)
{
    server_count = count;
    for (int i = 0; i < count; i++) {
        servers[i].site.offset_ns = chance_between(1, 1000) * SECOND;
        servers[i].site.drift_ppb = chance_between(-200000, 200000);
    }
}

/* ---- packets ---- */

static int64_t hold_of(const struct redis_wire *wire)
{
    int64_t until_ns = held_until_ns[wire->site->number][wire->server - servers];

    return until_ns > world.now_ns ? until_ns : 0;
}

static void send_later(struct redis_wire *wire, int64_t until_ns)
{
    wire->to_server.last_at_ns = until_ns;
}

static int64_t delay_next_ns; /* 0: no packet is to be delayed */
static int64_t delayed_until_ns;

void network_delay_next(int64_t until_ns)
{
    delay_next_ns = until_ns;
    delayed_until_ns = until_ns;
}

bool network_has_delayed(void)
{
    return delay_next_ns != 0 || world.now_ns < delayed_until_ns + MS;
}

void network_send(struct redis_wire *wire, struct way *way, enum packet_kind kind,
                  struct bytes bytes)
{
    struct packet *packet = calloc(1, sizeof(*packet));
    int64_t at_ns = world.now_ns + chance_between(15000, 60000);

    if (packet == NULL)
        abort();
    if (kind == PACKET_DATA && delay_next_ns != 0 && way == &wire->to_server) {
        send_later(wire, delay_next_ns);
        delay_next_ns = 0;
    }
    if (chance_one_in(32))
        at_ns += chance_skewed(1000, 2 * MS);
    if (at_ns <= way->last_at_ns)
        at_ns = way->last_at_ns + 1;
    way->last_at_ns = packet->at_ns = at_ns;
    packet->kind = kind;
    if (bytes.len > 0)
        packet->bytes = bytes_copy(bytes);
    if (way->first == NULL)
        way->first = packet;
    else
        way->last->next = packet;
    way->last = packet;
    if (way->first == packet)
        event_plan(&way->arrival, at_ns);
}

static void free_first(struct way *way)
{
    struct packet *packet = way->first;

    way->first = packet->next;
    free(packet->bytes.at);
    free(packet);
    if (way->first != NULL)
        event_plan(&way->arrival, way->first->at_ns);
}

void network_lose(struct way *way)
{
    event_drop(&way->arrival);
    while (way->first != NULL) {
        struct packet *packet = way->first;

        way->first = packet->next;
        free(packet->bytes.at);
        free(packet);
    }
}

/* ---- the server's side ---- */

static void end_service(struct redis_wire *wire)
{
    if (wire->is_served)
        client_end(&wire->client);
    wire->is_served = false;
}

/* Send a message that the client did not ask for. */
static void send_message(struct client *client, struct bytes message)
{
    struct redis_wire *wire =
        (struct redis_wire *)(void *)((char *)client - offsetof(struct redis_wire, client));

    network_send(wire, &wire->to_client, PACKET_DATA, message);
}

/* Read the number behind `kind` at `at`, and return the position behind its line. NULL: not all of
 * it has arrived. */
static const char *read_header(const char *at, const char *end, char kind, long *number)
{
    const char *line_end = memchr(at, '\n', (size_t)(end - at));

    if (at == end || line_end == NULL)
        return NULL;
    if (at[0] != kind)
        world_condemn(CRASH, "the library sent bytes that are no command");
    *number = strtol(at + 1, NULL, 10);
    return line_end + 1;
}

/* Read one command. Returns its length; 0: not all of it has arrived. */
static size_t read_command(const struct buffer *in, struct bytes argv[MODEL_ARGS_MAX],
                           size_t *argc)
{
    const char *end = in->at + in->len;
    long count, len;
    const char *at = read_header(in->at, end, '*', &count);

    if (at == NULL || world.is_over || count > MODEL_ARGS_MAX)
        return 0;
    for (long i = 0; i < count; i++) {
        at = read_header(at, end, '$', &len);
        if (at == NULL || end - at < len + 2)
            return 0;
        argv[i] = (struct bytes){(char *)(uintptr_t)at, (size_t)len};
        at += len + 2;
    }
    *argc = (size_t)count;
    return (size_t)(at - in->at);
}

static void serve(struct redis_wire *wire)
{
    struct bytes argv[MODEL_ARGS_MAX];
    struct buffer out = {0};
    size_t argc, len;

    while (wire->asked.len > 0 && (len = read_command(&wire->asked, argv, &argc)) > 0) {
        size_t before = out.len;

        trace_bytes("ask", wire->number, wire->asked.at, len);
        model_execute(&wire->client, argv, argc, &out);
        trace_bytes("reply", wire->number, out.at + before, out.len - before);
        buffer_take(&wire->asked, len);
    }
    if (out.len > 0)
        network_send(wire, &wire->to_client, PACKET_DATA, (struct bytes){out.at, out.len});
    buffer_free(&out);
}

static void open_service(struct redis_wire *wire)
{
    wire->client.send = send_message;
    client_begin(&wire->client, &wire->server->model);
    wire->is_served = true;
    network_send(wire, &wire->to_client, PACKET_OPENED, (struct bytes){0});
}

static void arrive_at_server(void *arg)
{
    struct redis_wire *wire = arg;
    struct packet *packet = wire->to_server.first;
    struct server *server = wire->server;
    int64_t later_ns = hold_of(wire);

    if (server->site.stands_until_ns > world.now_ns && server->site.stands_until_ns > later_ns)
        later_ns = server->site.stands_until_ns;
    if (later_ns > 0) {
        event_plan(&wire->to_server.arrival, later_ns);
        return;
    }
    trace("to-server", wire->number, packet->kind);
    if (server->is_down && packet->kind == PACKET_OPEN) {
        network_send(wire, &wire->to_client, PACKET_REFUSED, (struct bytes){0});
    } else if (packet->kind == PACKET_OPEN) {
        open_service(wire);
    } else if (packet->kind == PACKET_DATA && wire->is_served) {
        buffer_add(&wire->asked, packet->bytes.at, packet->bytes.len);
        serve(wire);
    } else if (packet->kind == PACKET_END && wire->is_served) {
        end_service(wire);
        network_send(wire, &wire->to_client, PACKET_END, (struct bytes){0});
    }
    free_first(&wire->to_server);
}

/* ---- the client's side ---- */

static void arrive_at_client(void *arg)
{
    struct redis_wire *wire = arg;
    struct packet *packet = wire->to_client.first;

    if (hold_of(wire) > 0) {
        event_plan(&wire->to_client.arrival, hold_of(wire));
        return;
    }
    trace("to-client", wire->number, packet->kind);
    if (packet->kind == PACKET_OPENED && wire->state == WIRE_OPENING)
        wire->state = WIRE_OPEN;
    else if (packet->kind == PACKET_REFUSED)
        wire->state = WIRE_REFUSED;
    else if (packet->kind == PACKET_DATA)
        buffer_add(&wire->in, packet->bytes.at, packet->bytes.len);
    else if (packet->kind == PACKET_END)
        wire->state = WIRE_ENDED;
    else if (packet->kind == PACKET_RESET)
        wire->state = WIRE_RESET;
    free_first(&wire->to_client);
    if (!wire->is_closed)
        wire_changed(wire);
}

struct redis_wire *network_find(int number)
{
    struct redis_wire *wire = wires;

    while (wire != NULL && wire->number != number)
        wire = wire->next;
    return wire;
}

struct redis_wire *network_open(struct server *server)
{
    struct redis_wire *wire = calloc(1, sizeof(*wire));

    if (wire == NULL)
        abort();
    wire->number = wire_count++;
    wire->site = task_here->site;
    wire->server = server;
    wire->to_server.arrival = (struct event){.run = arrive_at_server, .arg = wire};
    wire->to_client.arrival = (struct event){.run = arrive_at_client, .arg = wire};
    wire->next = wires;
    wires = wire;
    tell("process %d task %d opens connection %d to server %d", wire->site->number,
         task_here->number, wire->number, (int)(server - servers));
    network_send(wire, &wire->to_server, PACKET_OPEN, (struct bytes){0});
    return wire;
}

/* ---- faults ---- */

void network_hold(int process, int server, int64_t until_ns)
{
    held_until_ns[process][server] = until_ns;
    tell("FAULT process %d and server %d hear nothing of each other for %.3f ms", process, server,
         (double)(until_ns - world.now_ns) / 1e6);
}

static void cut(struct redis_wire *wire, bool after)
{
    trace("cut", wire->number, after);
    if (!after)
        network_lose(&wire->to_server);
    else if (wire->is_served)
        for (const struct packet *at = wire->to_server.first; at != NULL && wire->is_served;
             at = at->next)
            if (at->kind == PACKET_DATA) {
                buffer_add(&wire->asked, at->bytes.at, at->bytes.len);
                serve(wire);
            }
    network_lose(&wire->to_server);
    network_lose(&wire->to_client);
    end_service(wire);
    if (!wire->is_closed)
        network_send(wire, &wire->to_client, chance_one_in(2) ? PACKET_RESET : PACKET_END,
                     (struct bytes){0});
}

static bool is_live(const struct redis_wire *wire)
{
    return !wire->is_closed && (wire->state == WIRE_OPEN || wire->state == WIRE_OPENING);
}

/* Choose an open connection by chance; NULL: there is none. */
static struct redis_wire *pick_live(void)
{
    struct redis_wire *at = wires;
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

bool network_cut(bool after)
{
    struct redis_wire *wire = pick_live();

    if (wire != NULL)
        cut(wire, after);
    return wire != NULL;
}

bool network_delay_one(int64_t until_ns)
{
    struct redis_wire *wire = pick_live();

    if (wire != NULL && wire->to_server.last_at_ns < until_ns)
        send_later(wire, until_ns);
    return wire != NULL;
}

/* The servers still execute what the killed process has sent. */
void network_cut_process(const struct site *site)
{
    for (struct redis_wire *at = wires; at != NULL; at = at->next)
        if (at->site == site && !at->is_closed) {
            at->is_closed = true;
            network_send(at, &at->to_server, PACKET_END, (struct bytes){0});
        }
}

void network_cut_server(const struct server *server)
{
    for (struct redis_wire *at = wires; at != NULL; at = at->next)
        if (at->server == server && is_live(at))
            cut(at, false);
}
