/* SPDX-License-Identifier: MIT */
/* wire.h -- a stream of bytes to one Redis server: the only way to a socket.
 *
 * If the URL is_encrypted, the bytes go through TLS (tls.h), and the connect ends with
 * its handshake.  All other code reaches a server by these nine calls only, so another
 * implementation of them can replace the network, as the simulation does.  Only the
 * waits block, and an open that has to resolve a host name.  A closed peer causes no
 * SIGPIPE.
 *
 * Threads     At the same time one thread may send, one receive and one wait; any
 *             thread may cut.  No call may run during close or after it. */
#ifndef BASE_REDIS_WIRE_H
#define BASE_REDIS_WIRE_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/redis/outcome.h"
#include "base/redis/url.h"

struct redis_wire;

/* Begin to connect to the server of `url`.  NULL: the server cannot be reached, and
 * `why` says so; or there is no memory, and `why` is "". */
struct redis_wire *redis_wire_open(const struct redis_url *url, char why[REDIS_WHY_SIZE]);

/* The meaning of an errno that a call returned as a negative number, in the words of
 * TLS or of the system; for 0, that the server has closed the connection.  The text
 * lives until the wire is closed. */
const char *redis_wire_why(const struct redis_wire *wire, int error);

/* The text for a peer that does not answer. */
const char *redis_wire_silence(const struct redis_wire *wire);

/* Send as many of the `len` bytes as the socket takes.  Returns their number; -EAGAIN:
 * the socket takes none now, or the connect has not ended; another negative errno: the
 * connect failed, or the wire is broken.  With `len` 0 the answer 0 means that the
 * connect has ended. */
ssize_t redis_wire_send(struct redis_wire *wire, const char *bytes, size_t len);

/* Receive up to `size` bytes.  Returns their number; 0: the server has closed the
 * connection; -EAGAIN: no byte has arrived; another negative errno: the wire is
 * broken. */
ssize_t redis_wire_receive(struct redis_wire *wire, char *bytes, size_t size);

/* The same, but if no byte has arrived the call sleeps, at most REDIS_WIRE_SLICE_MS.
 * This takes one system call instead of a wait and a receive.  The connect has ended; a
 * cut ends the sleep. */
enum { REDIS_WIRE_SLICE_MS = 50 };
ssize_t redis_wire_await(struct redis_wire *wire, char *bytes, size_t size);

/* One wire of a wait: the wanted events, and the events that came.  A broken or cut
 * wire counts as CAN_RECEIVE, so that the receive finds the failure. */
enum { REDIS_WIRE_CAN_RECEIVE = 1, REDIS_WIRE_CAN_SEND = 2 };
struct redis_wire_look {
    struct redis_wire *wire; /* NULL: passed over                                   */
    unsigned wanted;         /* of the two above; while connecting: CAN_SEND        */
    unsigned seen;           /* out: of the two above                               */
};

enum { REDIS_WIRE_LOOKS_MAX = 16 };

/* Sleep until one of the wires has a wanted event, until the event event_fd
 * (base/os/event.h) is raised, or until `until_ns`.  Clears the event.  True: a wire or
 * the event was ready.  False: neither; the wait may have ended early. */
_Bool redis_wire_wait(struct redis_wire_look *looks, size_t count, int event_fd,
                      int64_t until_ns);

/* End the stream in both directions, as if the server had closed it: waiting threads
 * are woken, and no more bytes are sent, not even by the kernel, so no request without an
 * answer arrives later.  NULL is fine. */
void redis_wire_cut(struct redis_wire *wire);

/* Close the stream.  If a request without an answer was given up, redis_wire_cut() comes
 * first; otherwise the kernel still delivers what was sent.  NULL is fine. */
void redis_wire_close(struct redis_wire *wire);

#endif /* BASE_REDIS_WIRE_H */
