/* SPDX-License-Identifier: MIT */
/* ports.c -- the ports of the servers: chooses, keeps and reaches them. */
#include "loadtest/lab/lab.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

#include "loadtest/kit/port.h"

enum { ANSWER_MS = 500 };

int lab_connect(int port)
{
    struct sockaddr_in address = {.sin_family = AF_INET,
                                  .sin_port = htons((uint16_t)port),
                                  .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    struct timeval limit = {.tv_usec = ANSWER_MS * 1000};
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

    if (fd >= 0)
        setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof limit);
    if (fd >= 0 && connect(fd, (struct sockaddr *)&address, sizeof address) != 0) {
        close(fd);
        fd = -1;
    }
    return fd;
}

bool lab_reserve_port(struct lab_server *server)
{
    bool ok = (server->placeholder_fd = port_hold(&server->port)) >= 0;

    for (int i = 0; ok && i < lab_role_peer_ports(server->role); i++)
        ok = (server->peer_placeholder_fds[i] = port_hold(&server->peer_ports[i])) >= 0;
    if (!ok)
        eprintf("seckill: found no free port on 127.0.0.1: %s\n", strerror(errno));
    return ok;
}

static void release(int *placeholder_fd)
{
    if (*placeholder_fd >= 0)
        close(*placeholder_fd);
    *placeholder_fd = -1;
}

void lab_release_port(struct lab_server *server)
{
    release(&server->placeholder_fd);
    for (int i = 0; i < LAB_PEER_PORT_MAX; i++)
        release(&server->peer_placeholder_fds[i]);
}
