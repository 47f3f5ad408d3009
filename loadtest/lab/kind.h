/* SPDX-License-Identifier: MIT */
/* kind.h -- how a lab starts, asks and stops the program of a server: one row per kind. */
#ifndef LOADTEST_LAB_KIND_H
#define LOADTEST_LAB_KIND_H

#include "loadtest/lab/lab.h"
#include "loadtest/lab/topology.h"

struct lab_kind_row {
    const char *name; /* "redis" */
    /* Begin the program by lab_server_run(), with a configuration to which the topology may
     * add lines.  False: the reason is on stderr. */
    bool (*start)(struct lab *lab, struct lab_server *server,
                  const struct lab_topology_row *topology);
    /* Does the server answer, and is it this lab's?  The question takes two seconds at most. */
    bool (*answers)(const struct lab *lab, const struct lab_server *server);
    /* MAY.  Write the part of the server among its peers, such as "master"; "": not known. */
    void (*describe)(const struct lab *lab, const struct lab_server *server,
                     char out[LAB_PART_MAX]);
    /* MAY.  Remove the file by which a server that was killed looks as if it ran.  No process of
     * the server may run. */
    void (*forget)(const struct lab *lab, const struct lab_server *server);
    /* MAY.  How clients of the service's role reach it on that port; `database` is of
     * Redis.  NULL: 127.0.0.1:PORT. */
    void (*url)(const struct lab *lab, int port, int database, char *out, size_t size);
    int stop_signal;    /* ends it in order: before a restart; 0: SIGTERM               */
    int discard_signal; /* ends it at once, when its data is removed; 0: SIGTERM        */
    int discard_ms;     /* until it is killed when its data is removed                  */
    /* No placeholder can hold the port of such a server, so another process may take the port
     * before the server listens.  A start that fails may be repeated with another port. */
    bool may_lose_port;
};

#define KIND(id, file) extern const struct lab_kind_row lab_kind_##file;
#include "loadtest/lab/kinds.def"
#undef KIND

const struct lab_kind_row *lab_kind_row(enum lab_kind kind);
const struct lab_kind_row *lab_kind_of(const struct lab_server *server);

/* The url() of kinds that speak PostgreSQL's protocol: the database at that port. */
void lab_kind_postgres_url(const struct lab *lab, int port, int database, char *out,
                           size_t size);

#endif /* LOADTEST_LAB_KIND_H */
