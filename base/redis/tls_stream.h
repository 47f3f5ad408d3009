/* SPDX-License-Identifier: MIT */
/* tls_stream.h -- one stream of TLS over the socket of a wire (wire.h).
 *
 * No call blocks, and a peer that closed raises no SIGPIPE.
 *
 * Only for this room.
 *
 * Threads     As those of a wire. */
#ifndef BASE_REDIS_TLS_STREAM_H
#define BASE_REDIS_TLS_STREAM_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#include "base/redis/url.h"

struct redis_tls_stream;

/* A stream over `fd`, which stays the caller's, to the server of `url`.  The TCP connect need
 * not be done yet.  NULL: no memory. */
struct redis_tls_stream *redis_tls_begin(const struct redis_url *url, int fd);
void redis_tls_end(struct redis_tls_stream *stream); /* NULL is fine; the fd stays open */

/* Once TCP is connected: go on with the handshake.  0: it is done; EAGAIN: it waits for the
 * events (poll.h) that redis_tls_shake_events() tells; or another errno. */
int redis_tls_shake(struct redis_tls_stream *stream);
short redis_tls_shake_events(const struct redis_tls_stream *stream);

/* As redis_wire_send() and redis_wire_receive().  A send that answered -EAGAIN is repeated with
 * bytes that begin with the same ones. */
ssize_t redis_tls_send(struct redis_tls_stream *stream, const char *bytes, size_t len);
ssize_t redis_tls_receive(struct redis_tls_stream *stream, char *bytes, size_t size);

/* Are there bytes that were read from the socket already?  A wait must not sleep then. */
bool redis_tls_has_more(const struct redis_tls_stream *stream);

/* The failure in the words of OpenSSL, and what to do; NULL: none but that of an errno.  For the
 * thread that was told of the failure. */
const char *redis_tls_why(const struct redis_tls_stream *stream);

#endif /* BASE_REDIS_TLS_STREAM_H */
