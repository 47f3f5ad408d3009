/* SPDX-License-Identifier: MIT */
/* network_inside.h -- a connection, as its two sides see it: the client's (wire.c) and the server's
 * (network.c). */
#ifndef SIMULATION_NETWORK_INSIDE_H
#define SIMULATION_NETWORK_INSIDE_H

#include "tests/simulation/network.h"

enum packet_kind { PACKET_OPEN, PACKET_OPENED, PACKET_REFUSED, PACKET_DATA, PACKET_END,
                   PACKET_RESET };

struct packet {
    enum packet_kind kind;
    struct bytes bytes;
    int64_t at_ns;
    struct packet *next;
};

/* One direction of a connection. */
struct way {
    struct packet *first, *last;
    struct event arrival; /* the arrival of the first packet */
    int64_t last_at_ns;
};

enum wire_state { WIRE_OPENING, WIRE_OPEN, WIRE_REFUSED, WIRE_ENDED, WIRE_RESET };

enum { WATCHERS_MAX = 4 };

struct redis_wire {
    int number;
    const struct site *site; /* the client's */
    struct server *server;
    enum wire_state state;   /* as the client knows it */
    bool is_cut, is_closed;  /* the client has cut it; the client has closed it */
    bool is_served;          /* the server has accepted it */
    struct client client;    /* what the server keeps  */
    struct buffer in;        /* arrived at the client  */
    struct buffer asked;     /* bytes that arrived at the server and are no whole command yet */
    struct way to_server, to_client;
    struct task *watchers[WATCHERS_MAX];
    struct redis_wire *next;
};

/* Send a packet. */
void network_send(struct redis_wire *wire, struct way *way, enum packet_kind kind,
                  struct bytes bytes);

/* Drop all packets that are under way. */
void network_lose(struct way *way);

struct redis_wire *network_find(int number); /* NULL: there is none */

/* The events that poll() would report for the connection of that number; and whether the
 * connection was closed. */
uint32_t network_events(int number);
bool network_is_closed(int number);

struct redis_wire *network_open(struct server *server);

/* Wake the tasks that wait for the connection. */
void wire_changed(struct redis_wire *wire);

#endif /* SIMULATION_NETWORK_INSIDE_H */
