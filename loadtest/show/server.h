/* SPDX-License-Identifier: MIT */
/* server.h -- answers browsers, from the board.
 *
 * Every program on this machine can load the page itself.  The requests for the state of the sale
 * need the token of this server, in the header Authorization.
 *
 * Threads     One opens and closes it; each connection has a thread of its own.
 */
#ifndef LOADTEST_SHOW_SERVER_H
#define LOADTEST_SHOW_SERVER_H

#include "base/http/admin_access.h"
#include "base/http/server.h"
#include "loadtest/show/board.h"

struct show_server {
    struct show_board *board;
    lab_topologies topologies;
    struct admin_access access;
    struct connections *connections;
    struct http_server *http;
    int port;
};

/* Listen on `address`, which address_parse() has accepted, with a token that was never used before;
 * `host`: as in struct show_plan; `board` and `topologies` are set.  False: the log says why, and
 * nothing is left. */
bool show_server_open(struct show_server *server, const char *address, const char *host);
void show_server_close(struct show_server *server);

#endif /* LOADTEST_SHOW_SERVER_H */
