/* SPDX-License-Identifier: MIT */
/* received.h -- records what civetweb receives, by functions put before the C
 * library's.
 *
 * civetweb parses a head in place and overwrites the separators with NULs.  Afterwards
 * the program cannot get the length of the head or its original bytes, and the buffer
 * behind them has bytes of earlier requests. civetweb also does not show its sockets,
 * and does not report a failed accept().  So this program defines accept(), poll() and
 * recv() itself, before the C library's.  For a thread that has a `received`, these
 * functions copy the bytes that arrive, and set the connection's state in the table of
 * connections.  For all other threads they change nothing.
 *
 * If civetweb is linked statically or reads by another call, its bytes do not pass
 * these functions, and session.c refuses every request (500).
 *
 * Threads     A `received` belongs to one thread.
 */
#ifndef BASE_HTTP_RECEIVED_H
#define BASE_HTTP_RECEIVED_H

#include <stdbool.h>
#include <stddef.h>

#include "base/http/connections.h"

/* A copy of the bytes in civetweb's buffer.  Begins as {0}, which is empty. */
struct received {
    char *bytes; /* owned; memory is taken when the first byte comes */
    size_t length;
    size_t capacity; /* as large as civetweb's buffer */
    bool is_broken;  /* a byte was lost: there was no memory, or no room */
    struct connections *connections;
    struct connection *connection; /* NULL: civetweb has not looked at its socket yet */
};

/* Make this thread's poll() and recv() write to `in` from now on; NULL: stop that. */
void received_watch(struct received *in);

/* Make this thread's accept() add connections of that listener to the table from now
 * on. */
void received_accept(struct connections *connections, int listener);

/* Remove the first `count` bytes, or all of them if there are fewer. */
void received_consume(struct received *in, size_t count);

/* Free the memory, remove the connection from the table, and leave *in empty. */
void received_end(struct received *in);

#endif /* BASE_HTTP_RECEIVED_H */
