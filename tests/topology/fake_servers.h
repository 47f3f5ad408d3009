/* SPDX-License-Identifier: MIT */
/* fake_servers.h -- servers that answer each command with a text that the test sets. */
#ifndef TESTS_TOPOLOGY_FAKE_SERVERS_H
#define TESTS_TOPOLOGY_FAKE_SERVERS_H

#include <arpa/inet.h>
#include <poll.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "tests/registered.h"

enum { CONNS_MAX = 16, FAKES = 4 };

/* The commands for which a server has an answer each; NULL: no answer, and the connection stays
 * open. */
enum topic { ON_EPOCH, ON_ADDRESS, ON_ROLE, ON_WAIT, ON_ANYTHING, TOPIC_COUNT };

/* A server on a port of its own, which answers each command by its topic. */
static struct fake {
    int listen_fd;
    int port;
    pthread_t thread;
    atomic_bool stopping;
    pthread_mutex_t mutex;
    char *says[TOPIC_COUNT]; /* under the mutex */
    atomic_int heard[TOPIC_COUNT];
} fakes[FAKES];

static inline void say(struct fake *fake, enum topic topic, const char *text)
{
    pthread_mutex_lock(&fake->mutex);
    free(fake->says[topic]);
    fake->says[topic] = text != NULL ? strdup(text) : NULL;
    pthread_mutex_unlock(&fake->mutex);
}

static inline enum topic topic_of(const char *heard)
{
    if (strstr(heard, "get-master-addr-by-name") != NULL)
        return ON_ADDRESS;
    if (strstr(heard, "SENTINEL") != NULL)
        return ON_EPOCH;
    if (strstr(heard, "\r\nWAIT\r\n") != NULL)
        return ON_WAIT;
    return strstr(heard, "ROLE") != NULL ? ON_ROLE : ON_ANYTHING;
}

/* Answer a command; no right is missing, and only the question for rights begins a word with a
 * blank. Returns false if the peer has closed the connection. */
static inline bool answer(struct fake *fake, int fd)
{
    char heard[8192];
    ssize_t len = recv(fd, heard, sizeof(heard) - 1, 0);
    enum topic topic;

    if (len <= 0)
        return false;
    heard[len] = '\0';
    if (strstr(heard, "\r\n ") != NULL)
        return send(fd, ":1\r\n", 4, MSG_NOSIGNAL) == 4;
    topic = topic_of(heard);
    atomic_fetch_add(&fake->heard[topic], 1);
    pthread_mutex_lock(&fake->mutex);
    if (fake->says[topic] != NULL)
        (void)!send(fd, fake->says[topic], strlen(fake->says[topic]), MSG_NOSIGNAL);
    pthread_mutex_unlock(&fake->mutex);
    return true;
}

static inline void *serve(void *arg)
{
    struct fake *fake = arg;
    struct pollfd polled[CONNS_MAX + 1];

    for (int i = 0; i <= CONNS_MAX; i++)
        polled[i] = (struct pollfd){.fd = -1, .events = POLLIN};
    polled[0].fd = fake->listen_fd;
    while (!atomic_load(&fake->stopping)) {
        poll(polled, CONNS_MAX + 1, 5);
        for (int i = 1; i <= CONNS_MAX; i++)
            if (polled[i].fd >= 0 && polled[i].revents != 0 && !answer(fake, polled[i].fd)) {
                close(polled[i].fd);
                polled[i].fd = -1;
            }
        for (int i = 1; i <= CONNS_MAX && polled[0].revents != 0; i++)
            if (polled[i].fd < 0) {
                polled[i].fd = accept(fake->listen_fd, NULL, NULL);
                break;
            }
    }
    for (int i = 1; i <= CONNS_MAX; i++)
        if (polled[i].fd >= 0)
            close(polled[i].fd);
    return NULL;
}

static inline void start(struct fake *fake)
{
    struct sockaddr_in address = {.sin_family = AF_INET,
                                  .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t len = sizeof(address);

    memset(fake, 0, sizeof(*fake));
    pthread_mutex_init(&fake->mutex, NULL);
    fake->listen_fd = socket(AF_INET, SOCK_STREAM, 0);
    assert_int_equal(0, bind(fake->listen_fd, (struct sockaddr *)&address, len));
    assert_int_equal(0, listen(fake->listen_fd, CONNS_MAX));
    assert_int_equal(0, getsockname(fake->listen_fd, (struct sockaddr *)&address, &len));
    fake->port = ntohs(address.sin_port);
    assert_int_equal(0, pthread_create(&fake->thread, NULL, serve, fake));
}

static inline void stop(struct fake *fake)
{
    atomic_store(&fake->stopping, true);
    pthread_join(fake->thread, NULL);
    close(fake->listen_fd);
    for (int i = 0; i < TOPIC_COUNT; i++)
        free(fake->says[i]);
    pthread_mutex_destroy(&fake->mutex);
}

#endif /* TESTS_TOPOLOGY_FAKE_SERVERS_H */
