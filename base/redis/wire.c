/* SPDX-License-Identifier: MIT */
/* wire.c -- sockets of the kernel. */
#include "base/redis/wire.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/un.h>
#include <unistd.h>

#include "base/os/event.h"

enum { PORT_SIZE = 12 };

struct redis_wire {
    int fd;
    bool is_tcp;
    bool is_open; /* the sender's: the connect is done */
};

/* ---- opening ---- */

/* A socket that begins to connect.  -1: see errno. */
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

/* IPv4 first, as many servers listen there alone. */
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

struct redis_wire *redis_wire_open(const struct redis_url *url, char why[REDIS_WHY_SIZE])
{
    struct redis_wire *wire = calloc(1, sizeof(*wire));

    why[0] = '\0';
    if (wire == NULL)
        return NULL;
    wire->is_tcp = url->path[0] == '\0';
    if (wire->is_tcp) {
        wire->fd = connect_to_host(url, why);
    } else {
        wire->fd = connect_to_path(url->path);
        if (wire->fd < 0)
            snprintf(why, REDIS_WHY_SIZE, "%s", strerror(errno));
    }
    if (wire->fd >= 0)
        return wire;
    free(wire);
    return NULL;
}

/* A connect to a port of this machine that nobody listens on can meet itself, if the
 * kernel picks that very port for our end.  We would then talk to ourselves, and keep
 * the port from the server that is to come back on it. */
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

/* From now on only redis_wire_await() blocks: the other calls say each time that they do
 * not. */
static int let_block(int fd)
{
    struct timeval slice = {.tv_usec = REDIS_WIRE_SLICE_MS * 1000};
    int flags = fcntl(fd, F_GETFL);

    if (flags < 0 || fcntl(fd, F_SETFL, flags & ~O_NONBLOCK) != 0 ||
        setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &slice, sizeof(slice)) != 0)
        return errno;
    return 0;
}

/* 0: the connect is done; otherwise an errno, EAGAIN while it goes on. */
static int finish_connect(struct redis_wire *wire)
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
    wire->is_open = error == 0;
    return error;
}

/* ---- what an open wire does ---- */

static ssize_t minus_errno(void)
{
    return errno == EWOULDBLOCK ? -EAGAIN : -errno;
}

ssize_t redis_wire_send(struct redis_wire *wire, const char *bytes, size_t len)
{
    int error = wire->is_open ? 0 : finish_connect(wire);
    ssize_t sent;

    if (error != 0 || len == 0)
        return -error;
    do
        sent = send(wire->fd, bytes, len, MSG_NOSIGNAL | MSG_DONTWAIT);
    while (sent < 0 && errno == EINTR);
    return sent >= 0 ? sent : minus_errno();
}

ssize_t redis_wire_receive(struct redis_wire *wire, char *bytes, size_t size)
{
    ssize_t got;

    do
        got = recv(wire->fd, bytes, size, MSG_DONTWAIT);
    while (got < 0 && errno == EINTR);
    return got >= 0 ? got : minus_errno();
}

ssize_t redis_wire_await(struct redis_wire *wire, char *bytes, size_t size)
{
    ssize_t got = recv(wire->fd, bytes, size, 0);

    if (got < 0 && errno == EINTR)
        return -EAGAIN;
    return got >= 0 ? got : minus_errno();
}

static struct pollfd question_of(const struct redis_wire_look *look)
{
    struct pollfd asked = {.fd = -1};

    if (look->wire == NULL)
        return asked;
    asked.fd = look->wire->fd;
    if (look->wanted & REDIS_WIRE_CAN_RECEIVE)
        asked.events |= POLLIN;
    if (look->wanted & REDIS_WIRE_CAN_SEND)
        asked.events |= POLLOUT;
    return asked;
}

_Bool redis_wire_wait(struct redis_wire_look *looks, size_t count, int event_fd,
                      int64_t until_ns)
{
    struct pollfd polled[REDIS_WIRE_LOOKS_MAX + 1];
    int found;

    assert(count <= REDIS_WIRE_LOOKS_MAX);
    for (size_t i = 0; i < count; i++)
        polled[i] = question_of(&looks[i]);
    polled[count] = (struct pollfd){.fd = event_fd, .events = POLLIN};
    found = dlock_poll_until(polled, count + 1, until_ns);
    for (size_t i = 0; i < count; i++) {
        looks[i].seen = 0;
        if (polled[i].revents & POLLOUT)
            looks[i].seen |= REDIS_WIRE_CAN_SEND;
        if (polled[i].revents & ~POLLOUT)
            looks[i].seen |= REDIS_WIRE_CAN_RECEIVE;
    }
    if (polled[count].revents != 0)
        dlock_event_clear(event_fd);
    return found > 0;
}

void redis_wire_cut(struct redis_wire *wire)
{
    if (wire != NULL)
        (void)shutdown(wire->fd, SHUT_RDWR);
}

void redis_wire_close(struct redis_wire *wire)
{
    if (wire == NULL)
        return;
    dlock_poll_forget(wire->fd);
    (void)close(wire->fd);
    free(wire);
}
