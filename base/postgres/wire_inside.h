/* SPDX-License-Identifier: MIT */
/* wire_inside.h -- the structs of a wire.  Only for wire.c and wire_open.c. */
#ifndef BASE_POSTGRES_WIRE_INSIDE_H
#define BASE_POSTGRES_WIRE_INSIDE_H

#include <libpq-fe.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The servers that the URL names, and how far the opening has come. */
struct postgres_wire_route {
    PQconninfoOption *options; /* of the URL; NULL: libpq cannot parse it       */
    char *url;                 /* the URL in that case, which libpq refuses     */
    char *application_name;    /* NULL: not set                                 */
    char *settings;            /* the same                                      */
    bool wants_primary;
    size_t host_count;         /* 1: libpq gets the URL's host as it is         */
    size_t first_host, tried;  /* first_host is tried first; `tried` hosts were tried
                                * before this one                               */
    char *said;                /* the messages of the hosts tried so far; NULL: none */
    char host_said[256];       /* the beginning of the message of the host that is tried */
};

struct postgres_wire {
    PGconn *pg;
    bool was_told;         /* the server sent a result that no statement asked for */
    bool is_unreplicated;  /* the server gave up waiting for its standby */
    bool is_flooded;       /* the server sent more than answer_max bytes to one statement */
    size_t answer_max;     /* 0: no limit */
    uint32_t read_count;   /* reads since the last statement was sent */
    uint64_t arrived_before; /* bytes until reads were counted */
    uint64_t local_count;  /* bytes of a socket that is no TCP; see wire.c */
    struct postgres_wire_route route;
};

/* Wait until the socket is ready for `events`.  Returns the events that it is ready
 * for; 0: the deadline passed. */
short postgres_wire_wait_socket(const struct postgres_wire *wire, short events,
                                int64_t deadline_ns);

/* May libpq read once more, if the answer has at most `most` bytes?  False: the wire is flooded. */
bool postgres_wire_may_read(struct postgres_wire *wire, size_t most);

#endif /* BASE_POSTGRES_WIRE_INSIDE_H */
