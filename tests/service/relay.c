/* SPDX-License-Identifier: MIT */
/* relay.c -- forwards bytes, and counts the messages of the client. */
#include "tests/service/relay.h"

#include <arpa/inet.h>
#include <endian.h>
#include <poll.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "tests/service/rig.h"

enum { CONNECTIONS_MAX = 64, BYTES = 65536, HEAD = 5, NAME_MAX_LEN = 64 };

/* A connection. A message of the client has a type, a length that counts itself, and contents; a
 * message before the session begins has no type. */
struct connection {
    int client, server; /* -1: closed */
    char head[HEAD + NAME_MAX_LEN]; /* the first bytes of the message under way */
    size_t have;                    /* the number of its bytes that have arrived */
    bool is_begun;                  /* messages have a type now */
    int syncs;
    bool inserts;
};

struct relay {
    pthread_t thread;
    int listener, port, target_port;
    atomic_bool stop;
    pthread_mutex_t mutex; /* guards the fields below */
    struct connection connections[CONNECTIONS_MAX];
    int count;
};

static size_t length_of(const struct connection *c)
{
    uint32_t length;

    memcpy(&length, c->head + (c->is_begun ? 1 : 0), sizeof(length));
    return be32toh(length) + (c->is_begun ? 1U : 0U);
}

/* Does the message only ask whether the server speaks TLS? */
static bool asks_for_tls(const struct connection *c)
{
    enum { TLS_REQUEST = 80877103, LENGTH = 4 };
    uint32_t code;

    memcpy(&code, c->head + LENGTH, sizeof(code));
    return !c->is_begun && be32toh(code) == TLS_REQUEST;
}

static void end_message(struct connection *c)
{
    static const char INSERT[] = "order_insert";
    size_t kept = c->have < sizeof(c->head) ? c->have : sizeof(c->head);

    if (c->is_begun && c->head[0] == 'S')
        c->syncs++;
    c->inserts = c->inserts || memmem(c->head, kept, INSERT, strlen(INSERT)) != NULL;
    c->is_begun = !asks_for_tls(c);
    c->have = 0;
}

static void look(struct connection *c, const char *bytes, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        if (c->have < sizeof(c->head))
            c->head[c->have] = bytes[i];
        c->have++;
        if (c->have >= HEAD && c->have == length_of(c))
            end_message(c);
    }
}

static void hang_up(struct connection *c)
{
    (void)close(c->client);
    (void)close(c->server);
    c->client = c->server = -1;
}

/* Forward bytes in one direction. Returns false if an end has closed. */
static bool pass(struct relay *r, struct connection *c, bool to_server)
{
    static char bytes[BYTES];
    ssize_t n = recv(to_server ? c->client : c->server, bytes, sizeof(bytes), 0);

    if (n <= 0)
        return false;
    if (to_server) {
        (void)pthread_mutex_lock(&r->mutex);
        look(c, bytes, (size_t)n);
        (void)pthread_mutex_unlock(&r->mutex);
    }
    return rig_send(to_server ? c->server : c->client, bytes, (size_t)n);
}

static void accept_one(struct relay *r)
{
    int client = accept4(r->listener, NULL, NULL, SOCK_CLOEXEC);
    int server = client >= 0 && r->count < CONNECTIONS_MAX ? rig_connect(r->target_port) : -1;

    if (server < 0) {
        if (client >= 0)
            (void)close(client);
        return;
    }
    (void)pthread_mutex_lock(&r->mutex);
    r->connections[r->count++] = (struct connection){.client = client, .server = server};
    (void)pthread_mutex_unlock(&r->mutex);
}

static void *run(void *arg)
{
    struct relay *r = arg;

    while (!atomic_load(&r->stop)) {
        struct pollfd polls[1 + 2 * CONNECTIONS_MAX];
        int count = r->count;

        polls[0] = (struct pollfd){.fd = r->listener, .events = POLLIN};
        for (int i = 0; i < count; i++) {
            polls[1 + 2 * i] =
                (struct pollfd){.fd = r->connections[i].client, .events = POLLIN};
            polls[2 + 2 * i] =
                (struct pollfd){.fd = r->connections[i].server, .events = POLLIN};
        }
        (void)poll(polls, (nfds_t)(1 + 2 * count), 20);
        for (int i = 0; i < count; i++) {
            struct connection *c = &r->connections[i];
            bool is_open = c->client >= 0;

            if (is_open && polls[1 + 2 * i].revents != 0)
                is_open = pass(r, c, true);
            if (is_open && polls[2 + 2 * i].revents != 0)
                is_open = pass(r, c, false);
            if (!is_open && c->client >= 0)
                hang_up(c);
        }
        if (polls[0].revents != 0)
            accept_one(r);
    }
    for (int i = 0; i < r->count; i++)
        if (r->connections[i].client >= 0)
            hang_up(&r->connections[i]);
    return NULL;
}

struct relay *relay_start(int target_port)
{
    struct sockaddr_in at = {.sin_family = AF_INET};
    struct relay *r = calloc(1, sizeof(*r));
    socklen_t len = sizeof(at);

    assert_non_null(r);
    r->target_port = target_port;
    (void)pthread_mutex_init(&r->mutex, NULL);
    at.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    r->listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    assert_int_equal(bind(r->listener, (struct sockaddr *)&at, sizeof(at)), 0);
    assert_int_equal(listen(r->listener, 64), 0);
    assert_int_equal(getsockname(r->listener, (struct sockaddr *)&at, &len), 0);
    r->port = ntohs(at.sin_port);
    assert_int_equal(pthread_create(&r->thread, NULL, run, r), 0);
    return r;
}

int relay_port(const struct relay *r)
{
    return r->port;
}

int relay_trips(struct relay *r)
{
    int trips = 0;

    (void)pthread_mutex_lock(&r->mutex);
    for (int i = 0; i < r->count; i++)
        if (r->connections[i].inserts)
            trips += r->connections[i].syncs;
    (void)pthread_mutex_unlock(&r->mutex);
    return trips;
}

void relay_stop(struct relay *r)
{
    atomic_store(&r->stop, true);
    (void)pthread_join(r->thread, NULL);
    (void)close(r->listener);
    (void)pthread_mutex_destroy(&r->mutex);
    free(r);
}
