/* SPDX-License-Identifier: MIT */
/* wire.c -- the byte stream of wire.h, by sockets of the kernel and TLS. */
#include "base/redis/wire.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/un.h>
#include <unistd.h>

#include "base/os/clock.h"
#include "base/os/descriptor.h"
#include "base/os/event.h"
#include "base/redis/tls.h"
#include "base/redis/tls_stream.h"

enum { PORT_SIZE = 12 };

struct redis_wire {
    int fd;
    bool is_tcp;
    bool is_open; /* the sender's: the connect has ended, with TLS */
    bool is_connected; /* the sender's: TCP is connected; the handshake of TLS may go
                        * on */
    struct redis_tls_stream *tls; /* NULL: no TLS                       */
    atomic_bool has_heard;        /* the receiver's: bytes have arrived */
};

/* ---- opening ---- */

/* Make a socket and begin to connect it. -1: see errno. */
static int begin_connect(int family, const struct sockaddr *to, socklen_t to_len)
{
    int fd = socket(family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    int on = 1;
    int error;

    if (fd < 0)
        return -1;
    if (family != AF_UNIX) {
        (void)setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
        (void)setsockopt(fd, SOL_SOCKET, SO_KEEPALIVE, &on, sizeof(on));
    }
    if (connect(fd, to, to_len) == 0 || errno == EINPROGRESS)
        return fd;
    error = errno;
    (void)close(fd);
    errno = error;
    return -1;
}

static int connect_to_path(const char *path)
{
    struct sockaddr_un to = {.sun_family = AF_UNIX};

    static_assert(REDIS_PATH_MAX < sizeof(to.sun_path), "every path fits");
    strcpy(to.sun_path, path);
    return begin_connect(AF_UNIX, (const struct sockaddr *)&to, sizeof(to));
}

/* Resolve a host name, IPv4 addresses first, because many servers listen on IPv4
 * only. */
static int resolve(const struct redis_url *url, struct addrinfo **found)
{
    struct addrinfo hints = {.ai_family = AF_INET, .ai_socktype = SOCK_STREAM};
    char port[PORT_SIZE];
    int rc;

    snprintf(port, sizeof(port), "%d", url->port);
    rc = getaddrinfo(url->host, port, &hints, found);
    if (rc == 0)
        return 0;
    hints.ai_family = AF_INET6;
    return getaddrinfo(url->host, port, &hints, found) == 0 ? 0 : rc;
}

static int connect_to_host(const struct redis_url *url, char why[REDIS_WHY_SIZE])
{
    struct addrinfo *found = NULL;
    int rc = resolve(url, &found);
    int fd = -1;

    if (rc != 0) {
        snprintf(why, REDIS_WHY_SIZE, "%s", gai_strerror(rc));
        return -1;
    }
    for (const struct addrinfo *at = found; at != NULL && fd < 0; at = at->ai_next)
        fd = begin_connect(at->ai_family, at->ai_addr, at->ai_addrlen);
    if (fd < 0)
        snprintf(why, REDIS_WHY_SIZE, "%s", strerror(errno));
    freeaddrinfo(found);
    return fd;
}

static int begin(const struct redis_url *url, char why[REDIS_WHY_SIZE])
{
    int fd;

    if (url->path[0] == '\0')
        return connect_to_host(url, why);
    fd = connect_to_path(url->path);
    if (fd < 0)
        snprintf(why, REDIS_WHY_SIZE, "%s", strerror(errno));
    return fd;
}

struct redis_wire *redis_wire_open(const struct redis_url *url, char why[REDIS_WHY_SIZE])
{
    struct redis_wire *wire;

    /* Otherwise the stream would not be encrypted. */
    assert(!url->is_encrypted || url->tls != NULL);
    snprintf(why, REDIS_WHY_SIZE, "%s", url->tls != NULL ? redis_tls_why_not(url->tls) : "");
    wire = why[0] == '\0' ? calloc(1, sizeof(*wire)) : NULL;
    if (wire == NULL)
        return NULL;
    wire->is_tcp = url->path[0] == '\0';
    wire->fd = begin(url, why);
    if (wire->fd >= 0 && url->tls != NULL)
        wire->tls = redis_tls_begin(url, wire->fd);
    if (wire->fd >= 0 && (url->tls == NULL || wire->tls != NULL))
        return wire;
    if (wire->fd >= 0)
        (void)close(wire->fd);
    free(wire);
    return NULL;
}

/* Is the socket connected to itself?  This can happen if no server listens on a port of
 * this machine and the kernel chooses the same port for the client's end.  Such a
 * connection would also block the port for the server when it is started again. */
static bool met_itself(const struct redis_wire *wire)
{
    struct sockaddr_storage ours = {0};
    struct sockaddr_storage theirs = {0};
    socklen_t ours_len = sizeof(ours);
    socklen_t theirs_len = sizeof(theirs);

    if (!wire->is_tcp || getsockname(wire->fd, (struct sockaddr *)&ours, &ours_len) != 0 ||
        getpeername(wire->fd, (struct sockaddr *)&theirs, &theirs_len) != 0)
        return false;
    return ours_len == theirs_len && memcmp(&ours, &theirs, ours_len) == 0;
}

/* Make the socket blocking, for redis_wire_await().  All other calls pass
 * MSG_DONTWAIT. */
static int let_block(int fd)
{
    struct timeval slice = {.tv_usec = REDIS_WIRE_SLICE_MS * 1000};
    int flags = fcntl(fd, F_GETFL);

    if (flags < 0 || fcntl(fd, F_SETFL, flags & ~O_NONBLOCK) != 0 ||
        setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &slice, sizeof(slice)) != 0)
        return errno;
    return 0;
}

/* Finish the TCP connect.  Returns 0: connected; or an errno, EAGAIN while the connect
 * goes on. */
static int finish_tcp(struct redis_wire *wire)
{
    int error = 0;
    socklen_t error_len = sizeof(error);

    if (dlock_poll_one(wire->fd, POLLOUT, 0) == 0)
        return EAGAIN;
    if (getsockopt(wire->fd, SOL_SOCKET, SO_ERROR, &error, &error_len) != 0)
        error = errno;
    if (error == 0 && met_itself(wire))
        error = ECONNREFUSED;
    if (error == 0)
        error = let_block(wire->fd);
    wire->is_connected = error == 0;
    return error;
}

/* The same for the whole connect. */
static int finish_connect(struct redis_wire *wire)
{
    int error = wire->is_connected ? 0 : finish_tcp(wire);

    if (error == 0 && wire->tls != NULL)
        error = redis_tls_shake(wire->tls);
    wire->is_open = error == 0;
    return error;
}

/* ---- what an open wire does ---- */

static ssize_t minus_errno(void)
{
    return errno == EWOULDBLOCK ? -EAGAIN : -errno;
}

const char *redis_wire_why(const struct redis_wire *wire, int error)
{
    bool is_closed = error == 0 || error == ECONNRESET || error == EPIPE;

    if (wire->tls != NULL && error == EPROTO && redis_tls_why(wire->tls) != NULL)
        return redis_tls_why(wire->tls);
    if (is_closed && wire->is_open && !atomic_load(&wire->has_heard) && wire->tls != NULL)
        return "the server closed the connection before it answered: does it want a certificate "
               "of this client (cert=FILE, key=FILE)?";
    if (is_closed && wire->is_open && !atomic_load(&wire->has_heard) && wire->is_tcp)
        return "the server closed the connection before it answered: is its port one of TLS "
               "(rediss://)?";
    return error == 0 ? "the server closed the connection" : strerror(error);
}

/* Note the result `got` of a receive, and return it. */
static ssize_t heard(struct redis_wire *wire, ssize_t got)
{
    if (got > 0 && !atomic_load_explicit(&wire->has_heard, memory_order_relaxed))
        atomic_store(&wire->has_heard, true);
    return got >= 0 ? got : minus_errno();
}

ssize_t redis_wire_send(struct redis_wire *wire, const char *bytes, size_t len)
{
    int error = wire->is_open ? 0 : finish_connect(wire);
    ssize_t sent;

    if (error != 0 || len == 0)
        return -error;
    if (wire->tls != NULL)
        return redis_tls_send(wire->tls, bytes, len);
    do
        sent = send(wire->fd, bytes, len, MSG_NOSIGNAL | MSG_DONTWAIT);
    while (sent < 0 && errno == EINTR);
    return sent >= 0 ? sent : minus_errno();
}

static ssize_t receive_by_tls(struct redis_wire *wire, char *bytes, size_t size)
{
    ssize_t got = redis_tls_receive(wire->tls, bytes, size);

    return got < 0 ? got : heard(wire, got);
}

ssize_t redis_wire_receive(struct redis_wire *wire, char *bytes, size_t size)
{
    ssize_t got;

    if (wire->tls != NULL)
        return receive_by_tls(wire, bytes, size);
    do
        got = recv(wire->fd, bytes, size, MSG_DONTWAIT);
    while (got < 0 && errno == EINTR);
    return heard(wire, got);
}

ssize_t redis_wire_await(struct redis_wire *wire, char *bytes, size_t size)
{
    ssize_t got;

    if (wire->tls != NULL) {
        if (!redis_tls_has_more(wire->tls))
            (void)dlock_poll_one(wire->fd, POLLIN,
                                 dlock_clock_after(dlock_clock_ns(), REDIS_WIRE_SLICE_MS));
        return receive_by_tls(wire, bytes, size);
    }
    got = recv(wire->fd, bytes, size, 0);
    if (got < 0 && errno == EINTR)
        return -EAGAIN;
    return heard(wire, got);
}

/* Is the handshake of TLS under way?  Then the events to wait for are those of the
 * handshake, whatever the sender wants. */
static bool is_shaking(const struct redis_wire *wire)
{
    return wire->tls != NULL && wire->is_connected && !wire->is_open;
}

/* Has the TLS stream bytes that were read and not received yet? */
static bool has_more(const struct redis_wire_look *look)
{
    return look->wire != NULL && look->wire->tls != NULL &&
           look->wanted & REDIS_WIRE_CAN_RECEIVE && redis_tls_has_more(look->wire->tls);
}

static struct pollfd question_of(const struct redis_wire_look *look)
{
    struct pollfd asked = {.fd = -1};

    if (look->wire == NULL)
        return asked;
    asked.fd = look->wire->fd;
    if (is_shaking(look->wire)) {
        asked.events = redis_tls_shake_events(look->wire->tls);
        return asked;
    }
    if (look->wanted & REDIS_WIRE_CAN_RECEIVE)
        asked.events |= POLLIN;
    if (look->wanted & REDIS_WIRE_CAN_SEND)
        asked.events |= POLLOUT;
    return asked;
}

const char *redis_wire_silence(const struct redis_wire *wire)
{
    return is_shaking(wire) ? "no answer to the handshake of TLS in time: is the port one of TLS?"
                            : "no answer in time";
}

_Bool redis_wire_wait(struct redis_wire_look *looks, size_t count, int event_fd,
                      int64_t until_ns)
{
    struct pollfd polled[REDIS_WIRE_LOOKS_MAX + 1];
    int found;

    assert(count <= REDIS_WIRE_LOOKS_MAX);
    for (size_t i = 0; i < count; i++)
        polled[i] = question_of(&looks[i]);
    for (size_t i = 0; i < count; i++)
        if (has_more(&looks[i]))
            until_ns = 0;
    polled[count] = (struct pollfd){.fd = event_fd, .events = POLLIN};
    found = dlock_poll_until(polled, count + 1, until_ns);
    for (size_t i = 0; i < count; i++) {
        looks[i].seen = 0;
        if (polled[i].revents & POLLOUT)
            looks[i].seen |= REDIS_WIRE_CAN_SEND;
        if (polled[i].revents & ~POLLOUT)
            looks[i].seen |= REDIS_WIRE_CAN_RECEIVE;
        if (looks[i].seen != 0 && is_shaking(looks[i].wire))
            looks[i].seen = REDIS_WIRE_CAN_SEND;
        if (has_more(&looks[i])) {
            looks[i].seen |= REDIS_WIRE_CAN_RECEIVE;
            found++;
        }
    }
    if (polled[count].revents != 0)
        dlock_event_clear(event_fd);
    return found > 0;
}

void redis_wire_cut(struct redis_wire *wire)
{
    if (wire != NULL)
        dlock_descriptor_abort(wire->fd);
}

void redis_wire_close(struct redis_wire *wire)
{
    if (wire == NULL)
        return;
    dlock_poll_forget(wire->fd);
    redis_tls_end(wire->tls);
    (void)close(wire->fd);
    free(wire);
}
