/* SPDX-License-Identifier: MIT */
/* etcd_relay.h -- a proxy in front of a member of an etcd. It cuts the answers to watches into
 * pieces, or sends another text in place of a line.
 *
 * All other requests and answers pass unchanged, or slowly. A watch is the first and only request
 * on its connection. */
#ifndef TESTS_TOPOLOGY_ETCD_RELAY_H
#define TESTS_TOPOLOGY_ETCD_RELAY_H

#include <arpa/inet.h>
#include <poll.h>
#include <pthread.h>
#include <stdatomic.h>
#include <sys/socket.h>

#include "tests/topology/etcd_members.h"

enum { RELAY_ROOM = 65536, RELAY_WORDS = 512, RELAY_SLOW_MS = 100, RELAY_POLL_MS = 50 };

/* The way in which the lines of a watch are forwarded. */
enum relay_mode {
    RELAY_WHOLE, /* one chunk for each line, as etcd sends them */
    RELAY_BYTES, /* one chunk for each byte */
    RELAY_PAIRS, /* an event in one chunk with the line before it */
    RELAY_CUT,   /* the connection ends in the middle of an event's chunk; later ones pass whole */
    RELAY_SLOW,  /* a byte every RELAY_SLOW_MS */
};

static struct {
    int listen_fd, port, real_port;
    pthread_t thread;
    _Atomic enum relay_mode mode;
    atomic_bool answers_slowly; /* to all requests but watches */
    pthread_mutex_t mutex;      /* of `says` and `says_to` */
    const char *says;           /* replaces the next line of a watch; NULL: nothing does */
    char says_to[RELAY_WORDS];   /* a text that is in the request of this watch */
    const char *_Atomic refuses; /* requests for this path get no answer but a close; NULL: none */
    atomic_bool stopping;
    atomic_int refused_count, conn_count;
} relay;

/* The state of one connection. */
struct relayed {
    int client, real;
    bool is_watch, has_head;
    char asked[2048];
    size_t asked_len;
    char raw[RELAY_ROOM], line[RELAY_ROOM], held[RELAY_ROOM];
    size_t raw_len, line_len, held_len;
};

static inline bool relay_send(int fd, const char *bytes, size_t len, bool slowly)
{
    for (size_t i = 0; i < len && !atomic_load(&relay.stopping);) {
        ssize_t sent = send(fd, bytes + i, slowly ? 1 : len - i, MSG_NOSIGNAL);

        if (sent <= 0)
            return false;
        i += (size_t)sent;
        if (slowly)
            pause_ms(RELAY_SLOW_MS);
    }
    return true;
}

static inline bool relay_chunk(const struct relayed *conn, const char *bytes, size_t len,
                               bool slowly)
{
    static const char END[] = "\r\n";
    char head[32];
    int head_len = snprintf(head, sizeof(head), "%zx\r\n", len);

    return relay_send(conn->client, head, (size_t)head_len, slowly) &&
           relay_send(conn->client, bytes, len, slowly) &&
           relay_send(conn->client, END, strlen(END), slowly);
}

static inline bool relay_bytes(const struct relayed *conn)
{
    bool goes_on = true;

    for (size_t i = 0; goes_on && i < conn->line_len; i++)
        goes_on = relay_chunk(conn, conn->line + i, 1, false);
    return goes_on;
}

static inline bool relay_pairs(struct relayed *conn, bool is_event)
{
    bool goes_on = true;

    if (conn->held_len + conn->line_len > RELAY_ROOM)
        return false;
    memcpy(conn->held + conn->held_len, conn->line, conn->line_len);
    conn->held_len += conn->line_len;
    if (is_event) {
        goes_on = relay_chunk(conn, conn->held, conn->held_len, false);
        conn->held_len = 0;
    }
    return goes_on;
}

/* Send half of an event, and return false, so that the connection is closed. */
static inline bool relay_cut(struct relayed *conn)
{
    char head[32];
    int head_len = snprintf(head, sizeof(head), "%zx\r\n", conn->line_len);

    atomic_store(&relay.mode, RELAY_WHOLE);
    (void)relay_send(conn->client, head, (size_t)head_len, false);
    (void)relay_send(conn->client, conn->line, conn->line_len / 2, false);
    return false;
}

/* Replace the next line of a watch whose request contains `says_to` by `says`. */
static inline void relay_say(const char *says, const char *says_to)
{
    pthread_mutex_lock(&relay.mutex);
    relay.says = says;
    snprintf(relay.says_to, sizeof(relay.says_to), "%s", says_to);
    pthread_mutex_unlock(&relay.mutex);
}

/* Was the text of relay_say() sent? */
static inline bool relay_has_said(void)
{
    bool has_said;

    pthread_mutex_lock(&relay.mutex);
    has_said = relay.says == NULL;
    pthread_mutex_unlock(&relay.mutex);
    return has_said;
}

/* The text that replaces a line; NULL: the line is sent. */
static inline const char *relay_take_says(const struct relayed *conn)
{
    const char *says = NULL;

    pthread_mutex_lock(&relay.mutex);
    if (relay.says != NULL && strstr(conn->asked, relay.says_to) != NULL) {
        says = relay.says;
        relay.says = NULL;
    }
    pthread_mutex_unlock(&relay.mutex);
    return says;
}

/* Forward one line of a watch. Returns false if the connection is to be closed. */
static inline bool relay_line(struct relayed *conn)
{
    const char *says = relay_take_says(conn);
    bool is_event = memmem(conn->line, conn->line_len, "\"events\"", 8) != NULL;

    if (says != NULL)
        return relay_chunk(conn, says, strlen(says), false);
    switch (atomic_load(&relay.mode)) {
    case RELAY_BYTES:
        return relay_bytes(conn);
    case RELAY_PAIRS:
        return relay_pairs(conn, is_event);
    case RELAY_CUT:
        return is_event ? relay_cut(conn) : relay_chunk(conn, conn->line, conn->line_len, false);
    default:
        return relay_chunk(conn, conn->line, conn->line_len,
                           atomic_load(&relay.mode) == RELAY_SLOW);
    }
}

static inline void relay_forget(struct relayed *conn, size_t len)
{
    memmove(conn->raw, conn->raw + len, conn->raw_len - len);
    conn->raw_len -= len;
}

/* Take one whole chunk from the received bytes. Returns false if no chunk is complete yet. */
static inline bool relay_take_chunk(struct relayed *conn)
{
    const char *end = memmem(conn->raw, conn->raw_len, "\r\n", 2);
    size_t head, len;

    if (end == NULL)
        return false;
    head = (size_t)(end - conn->raw) + 2;
    len = strtoul(conn->raw, NULL, 16);
    if (conn->raw_len < head + len + 2 || conn->line_len + len > RELAY_ROOM)
        return false;
    memcpy(conn->line + conn->line_len, conn->raw + head, len);
    conn->line_len += len;
    relay_forget(conn, head + len + 2);
    return true;
}

/* Forward the received part of the answer to a watch. Returns false if the connection is to be
 * closed. */
static inline bool relay_watch(struct relayed *conn)
{
    bool goes_on = true;

    if (!conn->has_head) {
        const char *end = memmem(conn->raw, conn->raw_len, "\r\n\r\n", 4);
        size_t len = end != NULL ? (size_t)(end - conn->raw) + 4 : 0;

        if (end == NULL)
            return true;
        conn->has_head = relay_send(conn->client, conn->raw, len, false);
        relay_forget(conn, len);
    }
    while (goes_on && conn->has_head && relay_take_chunk(conn)) {
        if (conn->line_len == 0 || conn->line[conn->line_len - 1] != '\n')
            continue;
        goes_on = relay_line(conn);
        conn->line_len = 0;
    }
    return goes_on && conn->has_head;
}

static inline bool relay_answer(struct relayed *conn)
{
    ssize_t len = recv(conn->real, conn->raw + conn->raw_len, RELAY_ROOM - conn->raw_len, 0);
    bool goes_on;

    if (len <= 0)
        return false;
    conn->raw_len += (size_t)len;
    if (conn->is_watch)
        return relay_watch(conn);
    goes_on = relay_send(conn->client, conn->raw, conn->raw_len,
                         atomic_load(&relay.answers_slowly));
    conn->raw_len = 0;
    return goes_on;
}

static inline bool relay_request(struct relayed *conn, bool is_first)
{
    static const char WATCH[] = "POST /v3/watch";
    const char *refuses = atomic_load(&relay.refuses);
    char bytes[RELAY_ROOM];
    ssize_t len = recv(conn->client, bytes, sizeof(bytes) - 1, 0);

    if (len <= 0)
        return false;
    bytes[len] = '\0';
    if (is_first && strncmp(bytes, WATCH, strlen(WATCH)) == 0)
        conn->is_watch = true;
    if (refuses != NULL && strncmp(strchrnul(bytes, '/'), refuses, strlen(refuses)) == 0) {
        atomic_fetch_add(&relay.refused_count, 1);
        return false;
    }
    if (conn->is_watch && conn->asked_len + (size_t)len < sizeof(conn->asked)) {
        memcpy(conn->asked + conn->asked_len, bytes, (size_t)len);
        conn->asked_len += (size_t)len;
    }
    return relay_send(conn->real, bytes, (size_t)len, false);
}

static inline int relay_connect(void)
{
    struct sockaddr_in at = {.sin_family = AF_INET,
                             .sin_port = htons((uint16_t)relay.real_port),
                             .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

    if (fd >= 0 && connect(fd, (struct sockaddr *)&at, sizeof(at)) != 0) {
        close(fd);
        return -1;
    }
    return fd;
}

static inline void *relay_serve(void *arg)
{
    struct relayed *conn = arg;
    bool goes_on = (conn->real = relay_connect()) >= 0, is_first = true;

    while (goes_on && !atomic_load(&relay.stopping)) {
        struct pollfd polled[2] = {{conn->client, POLLIN, 0}, {conn->real, POLLIN, 0}};

        if (poll(polled, 2, RELAY_POLL_MS) <= 0)
            continue;
        if (polled[0].revents != 0) {
            goes_on = relay_request(conn, is_first);
            is_first = false;
        }
        if (goes_on && polled[1].revents != 0)
            goes_on = relay_answer(conn);
    }
    if (conn->real >= 0)
        close(conn->real);
    close(conn->client);
    free(conn);
    atomic_fetch_sub(&relay.conn_count, 1);
    return NULL;
}

static inline void *relay_run(void *arg)
{
    int fd;

    while ((fd = accept4(relay.listen_fd, NULL, NULL, SOCK_CLOEXEC)) >= 0) {
        struct relayed *conn = calloc(1, sizeof(*conn));
        pthread_t thread;

        if (conn == NULL)
            abort();
        conn->client = fd;
        atomic_fetch_add(&relay.conn_count, 1);
        if (pthread_create(&thread, NULL, relay_serve, conn) != 0)
            abort();
        pthread_detach(thread);
    }
    return arg;
}

/* Start the proxy in front of the member at that port. */
static inline void relay_start(int real_port)
{
    struct sockaddr_in at = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t len = sizeof(at);

    memset(&relay, 0, sizeof(relay));
    pthread_mutex_init(&relay.mutex, NULL);
    relay.real_port = real_port;
    relay.listen_fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    assert_int_equal(0, bind(relay.listen_fd, (struct sockaddr *)&at, sizeof(at)));
    assert_int_equal(0, listen(relay.listen_fd, 64));
    assert_int_equal(0, getsockname(relay.listen_fd, (struct sockaddr *)&at, &len));
    relay.port = ntohs(at.sin_port);
    assert_int_equal(0, pthread_create(&relay.thread, NULL, relay_run, NULL));
}

static inline void relay_stop(void)
{
    atomic_store(&relay.stopping, true);
    shutdown(relay.listen_fd, SHUT_RDWR);
    pthread_join(relay.thread, NULL);
    close(relay.listen_fd);
    assert_comes(atomic_load(&relay.conn_count) == 0);
}

#endif /* TESTS_TOPOLOGY_ETCD_RELAY_H */
