/* SPDX-License-Identifier: MIT */
/* received.h -- what civetweb does with its sockets, seen on the way.
 *
 * civetweb parses a head where it lies and writes NULs over what stood between its parts;
 * it tells neither how long the head was nor what the bytes were, and behind them lies
 * what earlier requests left.  civetweb also tells no socket, and says nothing when
 * accept() fails.  So this program puts an accept(), a poll() and a recv() of its own before the C
 * library's.  For a thread that has a `received` they keep a copy of what was received and
 * say in the table of connections what its connection is doing; for all other threads
 * they change nothing.
 *
 * Does not survive a civetweb that is linked statically, or reads by another call: its
 * bytes do not pass here then, and session.c refuses every request (500).
 *
 * Threads     A `received` belongs to one thread.
 */
#ifndef BASE_HTTP_RECEIVED_H
#define BASE_HTTP_RECEIVED_H

#include <stdbool.h>
#include <stddef.h>

#include "base/http/connections.h"

/* The bytes that civetweb has in its buffer; a zeroed struct is empty. */
struct received {
    char *bytes; /* owned; memory is taken when the first byte comes */
    size_t length;
    size_t capacity; /* as large as civetweb's buffer */
    bool is_broken;  /* a byte was lost: there was no memory, or no room */
    struct connections *connections;
    struct connection *connection; /* NULL: civetweb has not looked at its socket yet */
};

/* From now on this thread's poll() and recv() tell `in`; NULL: nobody. */
void received_watch(struct received *in);

/* This thread accepts connections of that listener from now on. */
void received_accept(struct connections *connections, int listener);

/* The first `count` bytes are done with; with more than there are, all of them. */
void received_consume(struct received *in, size_t count);

/* Forget everything, give the memory back, and take the connection out of the table. */
void received_end(struct received *in);

#endif /* BASE_HTTP_RECEIVED_H */
