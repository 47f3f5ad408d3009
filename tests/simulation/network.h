/* SPDX-License-Identifier: MIT */
/* network.h -- simulated servers and the connections to them, behind the functions of
 * base/redis/wire.h.
 *
 * A connection has two directions. Packets of one direction arrive in their order, and never twice,
 * as TCP promises. Each packet takes a random time. A fault can hold the packets between a process
 * and a server, or cut a connection: before the packets under way have reached the server, or after
 * the server has executed them.
 *
 * Server N has the address redis://127.0.0.1:7000+N. */
#ifndef SIMULATION_NETWORK_H
#define SIMULATION_NETWORK_H

#include "tests/simulation/model.h"
#include "tests/simulation/task.h"

enum { SERVERS_MAX = 5, PROCESSES_MAX = 8, FIRST_PORT = 7000 };

struct server {
    struct model model;
    struct site site;
    bool is_down;
    struct keys copy; /* an older state of the data */
};

extern struct server servers[SERVERS_MAX];
extern int server_count;

/* One send in this many accepts only a part of its bytes; 0: none does. */
extern uint32_t network_short_one_in;

/* Prepare the process, before its first seed. */
void network_prepare(void);
void network_begin(int count);

/* ---- faults ---- */

/* Deliver no packet between the process and the server before that time. */
void network_hold(int process, int server, int64_t until_ns);

/* Cut one open connection, chosen by chance. `after`: the server still executes what is under way
 * to it. Returns false if no connection is open. */
bool network_cut(bool after);

/* Deliver the next command at that time, and later packets of its connection after it. */
void network_delay_next(int64_t until_ns);
bool network_has_delayed(void); /* the command was not sent yet, or has not arrived */

/* Deliver no packet of one connection to its server before that time. Returns false if there is no
 * connection. */
bool network_delay_one(int64_t until_ns);

/* End all connections of a killed process, or of a server that went down. */
void network_cut_process(const struct site *site);
void network_cut_server(const struct server *server);

#endif /* SIMULATION_NETWORK_H */
