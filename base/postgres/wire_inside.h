/* SPDX-License-Identifier: MIT */
/* wire_inside.h -- what wire.c and wire_open.c share; no other file includes it. */
#ifndef BASE_POSTGRES_WIRE_INSIDE_H
#define BASE_POSTGRES_WIRE_INSIDE_H

#include <libpq-fe.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The servers that the URL names, and how far the opening has come. */
struct postgres_wire_route {
    PQconninfoOption *options; /* of the URL; NULL: libpq cannot read it        */
    char *url;                 /* then libpq says so itself                     */
    char *application_name;    /* NULL: not set                                 */
    char *settings;            /* the same                                      */
    bool wants_primary;
    size_t host_count;         /* 1: libpq gets the URL's host as it is         */
    size_t first_host, tried;  /* `tried` attempts were begun before this one   */
    char *said;                /* what was said of the hosts before; NULL: none */
};

struct postgres_wire {
    PGconn *pg;
    bool was_told;         /* by the server, what nobody asked for */
    bool is_unreplicated;  /* the server gave up waiting for its standby */
    struct postgres_wire_route route;
};

/* Wait until the socket is ready for `events`; what it is ready for, 0 after the
 * deadline. */
short postgres_wire_wait_socket(const struct postgres_wire *wire, short events,
                                int64_t deadline_ns);

#endif /* BASE_POSTGRES_WIRE_INSIDE_H */
