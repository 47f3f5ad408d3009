/* SPDX-License-Identifier: MIT */
/* listener.c -- listens on a port of the loopback, with a thread for each client. */
#include "tests/liar/listener.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "tests/liar/script.h"

enum { BACKLOG = 64, ENDS_MS = 10000, LOOK_MS = 5 };

struct client {
    int fd;
    struct listener *listener;
};

static struct sockaddr_in loopback(int port)
{
    struct sockaddr_in address = {.sin_family = AF_INET,
                                  .sin_port = htons((uint16_t)port),
                                  .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};

    return address;
}

static void send_at_once(int fd)
{
    int yes = 1;

    (void)setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &yes, sizeof(yes));
}

static void *serve_one(void *arg)
{
    struct client client = *(struct client *)arg;

    free(arg);
    client.listener->serve(client.fd);
    atomic_fetch_sub(&client.listener->serving, 1);
    return NULL;
}

static void take_in(struct listener *listener, int fd)
{
    struct client *client = malloc(sizeof(*client));
    pthread_t thread;

    send_at_once(fd);
    script_meet(fd);
    if (client != NULL)
        *client = (struct client){fd, listener};
    atomic_fetch_add(&listener->serving, 1);
    if (client != NULL && pthread_create(&thread, NULL, serve_one, client) == 0) {
        pthread_detach(thread);
        return;
    }
    atomic_fetch_sub(&listener->serving, 1);
    free(client);
    script_part(fd);
}

static void *run(void *arg)
{
    struct listener *listener = arg;

    for (;;) {
        int fd = accept(listener->fd, NULL, NULL);

        if (fd >= 0)
            take_in(listener, fd);
        else if (errno == EINVAL) /* listener_stop() has shut it down */
            return NULL;
    }
}

int listener_start(struct listener *listener, void (*serve)(int client))
{
    struct sockaddr_in address = loopback(0);
    socklen_t size = sizeof(address);

    listener->serve = serve;
    listener->fd = socket(AF_INET, SOCK_STREAM, 0);
    if (bind(listener->fd, (struct sockaddr *)&address, size) != 0 ||
        listen(listener->fd, BACKLOG) != 0 ||
        getsockname(listener->fd, (struct sockaddr *)&address, &size) != 0 ||
        pthread_create(&listener->thread, NULL, run, listener) != 0)
        return -1;
    return ntohs(address.sin_port);
}

void listener_stop(struct listener *listener)
{
    shutdown(listener->fd, SHUT_RDWR);
    pthread_join(listener->thread, NULL);
    close(listener->fd);
    script_hang_up();
    for (int ms = 0; ms < ENDS_MS && atomic_load(&listener->serving) > 0; ms += LOOK_MS)
        nanosleep(&(struct timespec){.tv_nsec = LOOK_MS * 1000000L}, NULL);
}

int listener_connect(int port)
{
    struct sockaddr_in address = loopback(port);
    int fd = socket(AF_INET, SOCK_STREAM, 0);

    if (fd >= 0 && connect(fd, (struct sockaddr *)&address, sizeof(address)) != 0) {
        close(fd);
        return -1;
    }
    if (fd >= 0)
        send_at_once(fd);
    return fd;
}

void listener_hang_up(int fd)
{
    close(fd);
}
