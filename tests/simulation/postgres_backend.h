/* SPDX-License-Identifier: MIT */
/* postgres_backend.h -- the processes of the simulated PostgreSQL: each executes what one
 * connection sends, a message at a time. */
#ifndef SIMULATION_POSTGRES_BACKEND_H
#define SIMULATION_POSTGRES_BACKEND_H

#include "tests/simulation/postgres_network.h"

/* The connection's first packet arrived: accept, or refuse while the server is down. */
void postgres_backend_open(struct postgres_wire *wire);

/* Messages arrived; they are the process's from now on. */
void postgres_backend_give(struct postgres_wire *wire, struct postgres_message *messages);

/* The client is gone: what has arrived is executed, and the process ends. */
void postgres_backend_hang_up(struct postgres_wire *wire);

/* The process ends now.  With an SQLSTATE it tells its client. */
void postgres_backend_end(struct postgres_wire *wire, const char *state);

/* For the model: the session's wait is over, or the session was ended. */
void postgres_backend_wake(struct model_session *session);

#endif /* SIMULATION_POSTGRES_BACKEND_H */
