/* SPDX-License-Identifier: MIT */
/* postgres_backend.h -- the backends of the simulated PostgreSQL: each executes the messages of one
 * connection, one at a time. */
#ifndef SIMULATION_POSTGRES_BACKEND_H
#define SIMULATION_POSTGRES_BACKEND_H

#include "tests/simulation/postgres_network.h"

/* The first packet of the connection arrived: accept it, or refuse it while the server is down. */
void postgres_backend_open(struct postgres_wire *wire);

/* Messages arrived; from now on they belong to the backend. */
void postgres_backend_give(struct postgres_wire *wire, struct postgres_message *messages);

/* The client has closed the connection: execute what has arrived, and end the backend. */
void postgres_backend_hang_up(struct postgres_wire *wire);

/* End the backend now. With an SQLSTATE, send it to the client first. */
void postgres_backend_end(struct postgres_wire *wire, const char *state);

/* Called by the model: the wait of the session is over, or the session was ended. */
void postgres_backend_wake(struct model_session *session);

#endif /* SIMULATION_POSTGRES_BACKEND_H */
