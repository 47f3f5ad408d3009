/* SPDX-License-Identifier: MIT */
/* wire.h -- a stream of bytes to one Redis server: the only way to a socket.
 *
 * The bytes of a URL that is_encrypted travel by TLS (tls.h), and the connect is done when its
 * handshake is.  The code above knows a server by these nine calls only.  An implementation of
 * the nine can stand in for the network.  Only the waits block, and an open where a host name has to be
 * resolved; a peer that closed raises no SIGPIPE.
 *
 * Threads     One that sends, one that receives and one that waits, at the same time; any
 *             cuts.  None of them during close or after it. */
#ifndef BASE_REDIS_WIRE_H
#define BASE_REDIS_WIRE_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/redis/outcome.h"
#include "base/redis/url.h"

struct redis_wire;

/* Begin to connect to the server of `url`.  NULL: there is no way to it, and `why` says so,
 * or there is no memory, and `why` is "". */
struct redis_wire *redis_wire_open(const struct redis_url *url, char why[REDIS_WHY_SIZE]);

/* What an errno means whose negative a call answered, in the words of TLS or of the system;
 * of 0, that the server has closed.  The text lives until the wire is closed. */
const char *redis_wire_why(const struct redis_wire *wire, int error);

/* What it means that the peer does not answer. */
const char *redis_wire_silence(const struct redis_wire *wire);

/* Send as many of the `len` bytes as there is room for.  Answers how many, or -EAGAIN: there
 * is no room, or the connect goes on; or another negative errno: the connect failed, or the
 * wire is broken.  0 of 0 bytes: the connect is done. */
ssize_t redis_wire_send(struct redis_wire *wire, const char *bytes, size_t len);

/* Receive up to `size` bytes.  Answers how many; 0: the server has closed; -EAGAIN: nothing
 * has come; or another negative errno: the wire is broken. */
ssize_t redis_wire_receive(struct redis_wire *wire, char *bytes, size_t size);

/* The same, but while nothing has come it sleeps, for at most REDIS_WIRE_SLICE_MS: one
 * system call in place of a wait and a receive.  The wire is open; a cut wakes it. */
enum { REDIS_WIRE_SLICE_MS = 50 };
ssize_t redis_wire_await(struct redis_wire *wire, char *bytes, size_t size);

/* The events that a wait looks for at a wire, and those that it saw.  A wire that is
 * broken or cut can receive, and tells that way. */
enum { REDIS_WIRE_CAN_RECEIVE = 1, REDIS_WIRE_CAN_SEND = 2 };
struct redis_wire_look {
    struct redis_wire *wire; /* NULL: passed over                                   */
    unsigned wanted;         /* of the two above; one that connects: CAN_SEND       */
    unsigned seen;           /* out: of the two above                               */
};

enum { REDIS_WIRE_LOOKS_MAX = 16 };

/* Sleep until one of the wires is as wanted, the event (base/os/event.h) is raised, or until
 * `until_ns`.  The event is cleared.  Answers whether one of the first two happened; a wait
 * may end early without. */
_Bool redis_wire_wait(struct redis_wire_look *looks, size_t count, int event_fd,
                      int64_t until_ns);

/* End the stream in both directions, as if the server had: whoever waits for it is woken,
 * and nothing is sent any more.  NULL is fine. */
void redis_wire_cut(struct redis_wire *wire);

void redis_wire_close(struct redis_wire *wire); /* NULL is fine */

#endif /* BASE_REDIS_WIRE_H */
