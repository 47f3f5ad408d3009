/* SPDX-License-Identifier: MIT */
/* postgres_network.h -- the simulated PostgreSQL server and the connections to it, behind the
 * functions of base/postgres/wire.h.
 *
 * As in network.h, a connection has two directions of packets, which keep their order, take a
 * random time, and can be held or lost. A backend of the server executes one message after another;
 * other backends execute theirs between these.
 * others execute theirs between them. */
#ifndef SIMULATION_POSTGRES_NETWORK_H
#define SIMULATION_POSTGRES_NETWORK_H

#include "tests/simulation/network.h"
#include "tests/simulation/postgres_model.h"

struct postgres_server {
    struct postgres_model model;
    struct site site;
    bool is_down;
    int64_t slow_ns; /* the additional time of each message */
};

extern struct postgres_server postgres_server;

void postgres_network_begin(void);

/* ---- faults ---- */

/* Deliver no packet between the process and the server before that time. */
void postgres_network_hold(int process, int64_t until_ns);

/* Cut one open connection, chosen by chance. `after`: the server still executes what is under way
 * to it. */
void postgres_network_cut(bool after);

/* Deliver no packet of one connection to the server before that time. */
void postgres_network_delay_one(int64_t until_ns);

/* End the connections of a killed process; the server still executes what the process has sent. */
void postgres_network_end_process(const struct site *site);

/* Stop the server for `for_ns`: in order, so that it reports this to its clients, or by a crash.
 * Committed transactions stay. */
void postgres_network_bring_down(bool in_order, int64_t for_ns);

/* ---- a connection, for the client's side (postgres_wire.c) ---- */

enum postgres_packet_kind { POSTGRES_PACKET_OPEN, POSTGRES_PACKET_OPENED,
                            POSTGRES_PACKET_REFUSED, POSTGRES_PACKET_MESSAGES,
                            POSTGRES_PACKET_ANSWERS, POSTGRES_PACKET_END };

/* An answer that the client has not read yet, in a list. */
struct postgres_answered {
    struct postgres_answer answer;
    struct postgres_answered *next;
};

struct postgres_packet {
    enum postgres_packet_kind kind;
    struct postgres_message *messages;
    struct postgres_answered *answers;
    int64_t at_ns;
    struct postgres_packet *next;
};

struct postgres_way {
    struct postgres_packet *first, *last;
    struct event arrival; /* of the first */
    int64_t last_at_ns;
};

enum postgres_wire_state { POSTGRES_WIRE_OPENING, POSTGRES_WIRE_OPEN, POSTGRES_WIRE_REFUSED,
                           POSTGRES_WIRE_ENDED };

struct postgres_wire {
    int number;
    const struct site *site; /* the client's */
    struct postgres_way to_server, to_client;
    /* What the client knows: */
    enum postgres_wire_state state;
    bool is_closed, is_broken; /* broken: the client has noticed that the connection ended */
    bool is_in_gap;            /* a statement's results were read, and their end follows */
    int backend_pid;
    int expected;              /* answers that the client has not read */
    enum postgres_transaction transaction;
    struct postgres_message *put, **put_end;
    struct postgres_answered *in;
    struct task *watcher;
    /* What the server has: */
    struct model_session *session; /* NULL: none */
    struct postgres_answered *out, **out_end; /* not sent yet */
    struct event turn;         /* executes the next message */
    struct event limit;        /* ends a wait, or an idle transaction */
    int64_t waits_since_ns;
    int statement_timeout_ms, lock_timeout_ms, idle_timeout_ms;
    struct postgres_wire *next;
};

struct postgres_wire *postgres_network_open(void);
void postgres_network_send(struct postgres_wire *wire, struct postgres_way *way,
                           struct postgres_packet packet);

#endif /* SIMULATION_POSTGRES_NETWORK_H */
