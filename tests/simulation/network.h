/* SPDX-License-Identifier: MIT */
/* network.h -- servers, and the connections to them: the other side of base/redis/wire.h.
 *
 * A connection is two ways of packets, which arrive in their order and are never doubled, as
 * TCP promises.  Packets take a moment, drawn anew for each.  A fault can hold the packets
 * between a process and a server, or cut a connection: before the packets on their way reached
 * the server, or after the server has executed them.
 *
 * The server N is known as redis://127.0.0.1:7000+N. */
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

/* One send in so many takes only a part; 0: never. */
extern uint32_t network_short_one_in;

/* Before the first seed of a process. */
void network_prepare(void);
void network_begin(int count);

/* ---- faults ---- */

/* No packet arrives between them before that time. */
void network_hold(int process, int server, int64_t until_ns);

/* Cut one open connection, which chance picks.  `after`: what is on its way to the server is
 * executed.  False: there is none. */
bool network_cut(bool after);

/* The next command that is sent arrives at that time, and so does what follows on its
 * connection. */
void network_delay_next(int64_t until_ns);
/* The same of the next one with these words in it, which the caller keeps. */
void network_delay_next_with(const char *words, int64_t until_ns);
bool network_has_delayed(void); /* it has not been sent, or has not arrived */

/* One connection's packets to the server arrive no earlier than then.  False: there is none. */
bool network_delay_one(int64_t until_ns);

/* All connections of a site have ended: a killed process, or a server that went down. */
void network_cut_process(const struct site *site);
void network_cut_server(const struct server *server);

#endif /* SIMULATION_NETWORK_H */
