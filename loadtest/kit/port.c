/* SPDX-License-Identifier: MIT */
/* port.c -- free ports of 127.0.0.1 for servers that are about to start. */
#include "loadtest/kit/port.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <stdint.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <unistd.h>

enum {
    /* Linux gives the ports from 32768 on to outgoing connections, so such a connection could take
     * one of them before the server does, or while the server is restarted.  Tests in Python and in
     * shell choose from 10000 to 14999 (tools/free_ports.py). */
    PORT_FIRST = 15000,
    PORT_COUNT = 17000,
    PORT_TRIES = 200,
};

static int bind_loopback(int port)
{
    struct sockaddr_in address = {.sin_family = AF_INET,
                                  .sin_port = htons((uint16_t)port),
                                  .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    int one = 1;

    if (fd < 0)
        return -1;
    /* SO_REUSEADDR is set after bind(), which with this flag takes a port that another program
     * holds. */
    if (bind(fd, (struct sockaddr *)&address, sizeof address) != 0 ||
        setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &one, sizeof one) != 0) {
        close(fd);
        return -1;
    }
    return fd;
}

int port_hold(int *port)
{
    int fd = -1;

    for (int i = 0; fd < 0 && i < PORT_TRIES; i++) {
        unsigned random = 0;

        if (getrandom(&random, sizeof random, 0) != sizeof random)
            return -1;
        *port = PORT_FIRST + (int)(random % PORT_COUNT);
        fd = bind_loopback(*port);
    }
    return fd;
}
