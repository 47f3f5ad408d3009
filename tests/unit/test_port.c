/* SPDX-License-Identifier: MIT */
/* test_port.c -- ports that are held for servers. */
#include <arpa/inet.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

#include "loadtest/kit/port.h"
#include "tests/registered.h"

static struct sockaddr_in at(int port)
{
    return (struct sockaddr_in){.sin_family = AF_INET,
                                .sin_port = htons((uint16_t)port),
                                .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
}

/* bind() a new socket, like a server with SO_REUSEADDR or like one without. Returns the socket; -1
 * and errno. */
static int bind_to(int port, int reuse)
{
    struct sockaddr_in address = at(port);
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

    assert_int_equal(0, setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &reuse, sizeof(reuse)));
    if (bind(fd, (struct sockaddr *)&address, sizeof(address)) == 0)
        return fd;
    close(fd);
    return -1;
}

static int connect_to(int port)
{
    struct sockaddr_in address = at(port);
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    int answer = connect(fd, (struct sockaddr *)&address, sizeof(address));

    close(fd);
    return answer;
}

TEST(a_server_can_have_the_held_port_and_no_other_program)
{
    int port, server;
    int holder = port_hold(&port);

    assert_true(holder >= 0);
    assert_int_equal(-1, bind_to(port, 0));
    assert_int_equal(-1, connect_to(port));
    server = bind_to(port, 1);
    assert_true(server >= 0);
    assert_int_equal(0, listen(server, 1));
    assert_int_equal(0, connect_to(port));
    close(server);
    close(holder);
}

TEST(a_held_port_is_below_those_of_outgoing_connections)
{
    FILE *file = fopen("/proc/sys/net/ipv4/ip_local_port_range", "r");
    char first[16];
    int port;
    int holder = port_hold(&port);

    assert_non_null(file);
    assert_non_null(fgets(first, sizeof(first), file));
    fclose(file);
    assert_true(holder >= 0);
    assert_in_range(port, 1024, strtol(first, NULL, 10) - 1);
    close(holder);
}

TEST(held_ports_differ)
{
    enum { COUNT = 500 }; /* of 17000 random ports; two of them are almost certainly the same */
    static int ports[COUNT], holders[COUNT];

    for (int i = 0; i < COUNT; i++) {
        holders[i] = port_hold(&ports[i]);
        assert_true(holders[i] >= 0);
        for (int j = 0; j < i; j++)
            assert_int_not_equal(ports[i], ports[j]);
    }
    for (int i = 0; i < COUNT; i++)
        close(holders[i]);
}
