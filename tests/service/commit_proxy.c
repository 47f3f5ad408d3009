/* SPDX-License-Identifier: MIT */
/* commit_proxy.c -- a proxy in front of PostgreSQL that drops one COMMIT, or the answer to one. */
#include "tests/service/commit_proxy.h"

#include <arpa/inet.h>
#include <poll.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "tests/service/rig.h"

enum { PIPES_MAX = 256, BYTES = 65536 };

static struct proxy {
    pthread_t thread;
    int listener;
    int port;
    int target_port;
    atomic_int mode;
    atomic_bool is_shut;
    atomic_int dropped;
    atomic_bool stop;
    struct pipe_pair {
        int client, server; /* -1 after the client was cut off */
        bool eats_answer;
    } pipes[PIPES_MAX];
    int pipe_count;
} proxy;

/* The statement that creates a voucher commits by itself. */
static bool has_commit(const char *bytes, size_t len)
{
    return memmem(bytes, len, "order_commit", 12) != NULL ||
           memmem(bytes, len, "voucher_create", 14) != NULL;
}

static void cut_client(struct pipe_pair *p)
{
    atomic_fetch_add(&proxy.dropped, 1); /* before the client can notice its end */
    (void)close(p->client);
    p->client = -1;
}

static void shut_if(bool shuts)
{
    if (shuts)
        atomic_store(&proxy.is_shut, true);
}

/* Forward the client's messages, except the first COMMIT that fits the mode. */
static bool pass_to_server(struct pipe_pair *p)
{
    static char bytes[BYTES];
    ssize_t n = recv(p->client, bytes, sizeof(bytes), 0);
    int mode = atomic_load(&proxy.mode);

    if (n <= 0)
        return false;
    if (mode != PASS && has_commit(bytes, (size_t)n)) {
        shut_if(mode == DROP_AND_SHUT || mode == ANSWER_AND_SHUT);
        atomic_store(&proxy.mode, PASS);
        if (mode == DROP_COMMIT || mode == DROP_AND_SHUT) {
            cut_client(p); /* the server's end stays open */
            return true;
        }
        p->eats_answer = true;
    }
    return rig_send(p->server, bytes, (size_t)n);
}

static bool pass_to_client(struct pipe_pair *p)
{
    static char bytes[BYTES];
    ssize_t n = recv(p->server, bytes, sizeof(bytes), 0);

    if (n <= 0)
        return false;
    if (p->eats_answer) {
        cut_client(p);
        p->eats_answer = false;
        return true;
    }
    return p->client < 0 || rig_send(p->client, bytes, (size_t)n);
}

static void accept_one(void)
{
    int client = accept4(proxy.listener, NULL, NULL, SOCK_CLOEXEC);
    int server = atomic_load(&proxy.is_shut) ? -1 : rig_connect(proxy.target_port);

    if (client < 0 || server < 0 || proxy.pipe_count == PIPES_MAX) {
        if (client >= 0)
            (void)close(client);
        if (server >= 0)
            (void)close(server);
        return;
    }
    proxy.pipes[proxy.pipe_count++] = (struct pipe_pair){client, server, false};
}

static void *run_proxy(void *arg)
{
    static struct pollfd polls[1 + 2 * PIPES_MAX];

    (void)arg;
    while (!atomic_load(&proxy.stop)) {
        int count = proxy.pipe_count;

        polls[0] = (struct pollfd){.fd = proxy.listener, .events = POLLIN};
        for (int i = 0; i < count; i++) {
            polls[1 + 2 * i] =
                (struct pollfd){.fd = proxy.pipes[i].client, .events = POLLIN};
            polls[2 + 2 * i] =
                (struct pollfd){.fd = proxy.pipes[i].server, .events = POLLIN};
        }
        (void)poll(polls, (nfds_t)(1 + 2 * count), 20);
        for (int i = 0; i < count; i++) {
            struct pipe_pair *p = &proxy.pipes[i];
            bool alive = true;

            if (p->client >= 0 && polls[1 + 2 * i].revents != 0)
                alive = pass_to_server(p);
            if (alive && p->server >= 0 && polls[2 + 2 * i].revents != 0)
                alive = pass_to_client(p);
            if (alive)
                continue;
            if (p->client >= 0)
                (void)close(p->client);
            (void)close(p->server);
            p->client = p->server = -1;
        }
        if (polls[0].revents != 0)
            accept_one();
    }
    for (int i = 0; i < proxy.pipe_count; i++) {
        if (proxy.pipes[i].client >= 0)
            (void)close(proxy.pipes[i].client);
        if (proxy.pipes[i].server >= 0)
            (void)close(proxy.pipes[i].server);
    }
    return NULL;
}

void commit_proxy_start(char *flag, size_t size)
{
    struct sockaddr_in at = {.sin_family = AF_INET};
    socklen_t len = sizeof(at);
    const char *url = rig_environment("SECKILL_DATABASE_URL");
    const char *colon = strrchr(url, ':');

    assert_non_null(colon);
    memset(&proxy, 0, sizeof(proxy));
    proxy.target_port = atoi(colon + 1);
    at.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    proxy.listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    assert_int_equal(bind(proxy.listener, (struct sockaddr *)&at, sizeof(at)), 0);
    assert_int_equal(listen(proxy.listener, 64), 0);
    assert_int_equal(getsockname(proxy.listener, (struct sockaddr *)&at, &len), 0);
    proxy.port = ntohs(at.sin_port);
    (void)snprintf(flag, size, "--database-url=%.*s:%d%s", (int)(colon - url), url,
                   proxy.port, strchr(colon, '/'));
    assert_int_equal(pthread_create(&proxy.thread, NULL, run_proxy, NULL), 0);
}

void commit_proxy_stop(void)
{
    atomic_store(&proxy.stop, true);
    (void)pthread_join(proxy.thread, NULL);
    (void)close(proxy.listener);
}

void commit_proxy_set(enum commit_mode mode)
{
    atomic_store(&proxy.mode, (int)mode);
}

int commit_proxy_dropped(void)
{
    return atomic_load(&proxy.dropped);
}

void commit_proxy_open(void)
{
    atomic_store(&proxy.is_shut, false);
}

void commit_proxy_end_orphans(void)
{
    for (int p = 0; p < proxy.pipe_count; p++)
        if (proxy.pipes[p].client < 0 && proxy.pipes[p].server >= 0)
            (void)shutdown(proxy.pipes[p].server, SHUT_RDWR);
}
