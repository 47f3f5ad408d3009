/* SPDX-License-Identifier: MIT */
/* connection.c -- one kept-alive HTTP connection that never blocks. */
#include "loadtest/open_loop/connection.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

static bool watch(struct connection *c, int poll_fd, int operation, bool is_writing)
{
    struct epoll_event event = {.events = is_writing ? EPOLLIN | EPOLLOUT : EPOLLIN,
                                .data.ptr = c};

    c->is_writing = is_writing;
    return epoll_ctl(poll_fd, operation, c->fd, &event) == 0;
}

void connection_open(struct connection *c, int poll_fd)
{
    struct sockaddr_in address = {.sin_family = AF_INET,
                                  .sin_port = htons((uint16_t)c->port),
                                  .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    int on = 1;

    c->received = c->sent = c->to_send = 0;
    c->fd = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    if (c->fd < 0)
        return;
    (void)setsockopt(c->fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    c->state = CONNECTION_CONNECTING;
    if ((connect(c->fd, (struct sockaddr *)&address, sizeof address) != 0 &&
         errno != EINPROGRESS) ||
        !watch(c, poll_fd, EPOLL_CTL_ADD, true))
        connection_cut(c, 0);
}

void connection_cut(struct connection *c, int64_t retry_ns)
{
    if (c->fd >= 0)
        close(c->fd);
    c->fd = -1;
    c->state = CONNECTION_DOWN;
    c->retry_ns = retry_ns;
}

bool connection_finish(struct connection *c, int poll_fd)
{
    int error = 0;
    socklen_t size = sizeof error;

    if (getsockopt(c->fd, SOL_SOCKET, SO_ERROR, &error, &size) != 0 || error != 0)
        return false;
    c->state = CONNECTION_FREE;
    return watch(c, poll_fd, EPOLL_CTL_MOD, false);
}

bool connection_send(struct connection *c, int poll_fd)
{
    c->state = CONNECTION_BUSY;
    c->sent = c->received = 0;
    return connection_flush(c, poll_fd);
}

bool connection_flush(struct connection *c, int poll_fd)
{
    ssize_t n = send(c->fd, c->out + c->sent, c->to_send - c->sent, MSG_NOSIGNAL);
    bool is_writing;

    if (n < 0 && errno != EAGAIN && errno != EINTR)
        return false;
    c->sent += n > 0 ? (size_t)n : 0;
    is_writing = c->sent < c->to_send;
    return is_writing == c->is_writing || watch(c, poll_fd, EPOLL_CTL_MOD, is_writing);
}

enum connection_event connection_receive(struct connection *c, struct received_answer *answer)
{
    ssize_t n = recv(c->fd, c->in + c->received, sizeof c->in - c->received, 0);

    if (n < 0)
        return errno == EAGAIN || errno == EINTR ? CONNECTION_NOTHING : CONNECTION_BROKEN;
    if (n == 0 || c->state != CONNECTION_BUSY)
        return CONNECTION_BROKEN;
    c->received += (size_t)n;
    switch (http_answer_read(c->in, c->received, answer)) {
    case HTTP_ANSWER_WHOLE:
        return answer->size == c->received ? CONNECTION_ANSWERED : CONNECTION_BROKEN;
    case HTTP_ANSWER_PART:
        return CONNECTION_NOTHING;
    default:
        return CONNECTION_BROKEN;
    }
}

void connection_next(struct connection *c)
{
    c->received = 0;
    c->state = CONNECTION_FREE;
}
