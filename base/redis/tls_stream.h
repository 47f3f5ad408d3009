/* SPDX-License-Identifier: MIT */
/* tls_stream.h -- one stream of TLS over the socket of a wire (wire.h).
 *
 * No call blocks.  A closed peer causes no SIGPIPE.
 *
 * Only for base/redis/.
 *
 * Threads     As those of a wire. */
#ifndef BASE_REDIS_TLS_STREAM_H
#define BASE_REDIS_TLS_STREAM_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#include "base/redis/url.h"

struct redis_tls_stream;

/* Make a stream over `fd` to the server of `url`; the caller closes `fd`.  The TCP
 * connect need not have ended.  NULL: no memory. */
struct redis_tls_stream *redis_tls_begin(const struct redis_url *url, int fd);
void redis_tls_end(struct redis_tls_stream *stream); /* NULL is fine; the fd stays open */

/* Once TCP is connected: go on with the handshake.  0: it is done; EAGAIN: it waits for the
 * events (poll.h) that redis_tls_shake_events() tells; or another errno. */
int redis_tls_shake(struct redis_tls_stream *stream);
short redis_tls_shake_events(const struct redis_tls_stream *stream);

/* As redis_wire_send() and redis_wire_receive().  After a send that answered -EAGAIN,
 * the next send must begin with the same bytes. */
ssize_t redis_tls_send(struct redis_tls_stream *stream, const char *bytes, size_t len);
ssize_t redis_tls_receive(struct redis_tls_stream *stream, char *bytes, size_t size);

/* Has the stream bytes that were read from the socket already?  If so, a wait must not
 * sleep. */
bool redis_tls_has_more(const struct redis_tls_stream *stream);

/* The failure in the words of OpenSSL, and what to do; NULL: there is only an errno.
 * Only in the thread whose call failed. */
const char *redis_tls_why(const struct redis_tls_stream *stream);

#endif /* BASE_REDIS_TLS_STREAM_H */
