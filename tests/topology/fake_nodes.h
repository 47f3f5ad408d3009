/* SPDX-License-Identifier: MIT */
/* fake_nodes.h -- two nodes of a Redis Cluster that answer each command with a text that the test
 * sets, and count the commands; and lock calls to these nodes. */
#ifndef TESTS_TOPOLOGY_FAKE_NODES_H
#define TESTS_TOPOLOGY_FAKE_NODES_H

#include <arpa/inet.h>
#include <poll.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "base/os/clock.h"
#include "base/redis/slot.h"
#include "lock/dlock.h"
#include "tests/registered.h"

enum {
    NODES = 2,
    CONNS_MAX = 32,
    TIMEOUT_MS = 300, /* of a command of the lock */
    SLACK_MS = 3000,  /* for a busy machine */
    ID_LEN = 40,
};

#define NAME "lock:order:1"
#define CHANNEL "redisson_lock__channel:{lock:order:1}"

/* The commands for which a node has an answer each; NULL: no answer, and the connection stays open.
 * At CLOSES in an answer the node closes the connection; in place of NUMBER it sends a port that it
 * has not sent before. */
enum topic { ON_NODES, ON_PING, ON_SCRIPT, ON_ASKING, ON_SUBSCRIBE, ON_WAIT, ON_LOCK, TOPICS };
#define CLOSES '\x01'
#define NUMBER '\x02'

struct conn {
    int fd;
    char heard[4096];
    size_t len;
};

static struct node {
    int listen_fd, port;
    pthread_t thread;
    atomic_bool stopping;
    pthread_mutex_t mutex;
    char *says[TOPICS]; /* under the mutex */
    atomic_int heard[TOPICS];
    int number;
    struct conn conns[CONNS_MAX];
} nodes[NODES];

static inline void say(int i, enum topic topic, const char *text)
{
    pthread_mutex_lock(&nodes[i].mutex);
    free(nodes[i].says[topic]);
    nodes[i].says[topic] = text != NULL ? strdup(text) : NULL;
    pthread_mutex_unlock(&nodes[i].mutex);
}

/* say() with a format of printf(). */
static inline void __attribute__((format(printf, 3, 4))) sayf(int i, enum topic topic,
                                                              const char *format, ...)
{
    char text[512];
    va_list args;

    va_start(args, format);
    vsnprintf(text, sizeof(text), format, args);
    va_end(args);
    say(i, topic, text);
}

static inline enum topic topic_of(const char *verb)
{
    static const struct {
        const char *verb;
        enum topic topic;
    } VERBS[] = {{"CLUSTER", ON_NODES},        {"PING", ON_PING},
                 {"SCRIPT", ON_SCRIPT},        {"ASKING", ON_ASKING},
                 {"SSUBSCRIBE", ON_SUBSCRIBE}, {"SUNSUBSCRIBE", ON_SUBSCRIBE},
                 {"WAIT", ON_WAIT}};

    for (size_t i = 0; i < sizeof(VERBS) / sizeof(VERBS[0]); i++)
        if (strcmp(verb, VERBS[i].verb) == 0)
            return VERBS[i].topic;
    return ON_LOCK;
}

/* Answer a command. Returns false if the node closes the connection. */
static inline bool answer(struct node *node, int fd, const char *verb)
{
    enum topic topic = topic_of(verb);
    bool stays = true;
    char *text;
    char *mark;

    atomic_fetch_add(&node->heard[topic], 1);
    pthread_mutex_lock(&node->mutex);
    text = node->says[topic] != NULL ? strdup(node->says[topic]) : NULL;
    pthread_mutex_unlock(&node->mutex);
    if (text != NULL && (mark = strchr(text, CLOSES)) != NULL) {
        *mark = '\0';
        stays = false;
    }
    if (text != NULL && (mark = strchr(text, NUMBER)) != NULL) {
        dprintf(fd, "%.*s%d%s", (int)(mark - text), text, 1 + node->number++ % 1000, mark + 1);
        text[0] = '\0';
    }
    if (text != NULL)
        (void)!send(fd, text, strlen(text), MSG_NOSIGNAL);
    free(text);
    return stays;
}

/* The length of the whole command at the beginning of `text`, and its first word. 0: the command is
 * not complete yet. */
static inline size_t take_command(const char *text, char verb[32])
{
    const char *at = text;
    int count, len;

    if (sscanf(at, "*%d\r\n", &count) != 1 || strstr(at, "\r\n") == NULL)
        return 0;
    for (int i = 0; i < count; i++) {
        const char *end = strstr(at, "\r\n");

        if (end == NULL || (i == 0 ? sscanf(end + 2, "$%d\r\n%31s", &len, verb)
                                   : sscanf(end + 2, "$%d\r\n", &len)) < 1)
            return 0;
        at = strstr(end + 2, "\r\n");
        if (at == NULL || strlen(at) < (size_t)len + 4)
            return 0;
        at += 2 + len;
    }
    return (size_t)(at + 2 - text);
}

/* Read and answer commands; no right is missing. Returns false if the connection has ended. */
static inline bool hear(struct node *node, struct conn *conn)
{
    ssize_t got =
        recv(conn->fd, conn->heard + conn->len, sizeof(conn->heard) - 1 - conn->len, 0);
    static const char RIGHTS[] = "\r\n "; /* only an opening's question begins a word so */
    char verb[32] = "";
    size_t taken;

    if (got <= 0)
        return false;
    conn->len += (size_t)got;
    conn->heard[conn->len] = '\0';
    while ((taken = take_command(conn->heard, verb)) > 0) {
        bool is_on_rights = memmem(conn->heard, taken, RIGHTS, strlen(RIGHTS)) != NULL;

        memmove(conn->heard, conn->heard + taken, conn->len - taken + 1);
        conn->len -= taken;
        if (is_on_rights)
            (void)!send(conn->fd, ":1\r\n", 4, MSG_NOSIGNAL);
        else if (!answer(node, conn->fd, verb))
            return false;
    }
    return conn->len < sizeof(conn->heard) - 1;
}

static inline void admit(struct node *node)
{
    struct timeval limit = {.tv_sec = 1};

    for (int i = 0; i < CONNS_MAX; i++)
        if (node->conns[i].fd < 0) {
            node->conns[i].fd = accept(node->listen_fd, NULL, NULL);
            node->conns[i].len = 0;
            setsockopt(node->conns[i].fd, SOL_SOCKET, SO_SNDTIMEO, &limit, sizeof(limit));
            return;
        }
}

static inline void *serve(void *arg)
{
    struct node *node = arg;
    struct pollfd polled[CONNS_MAX + 1];

    while (!atomic_load(&node->stopping)) {
        polled[CONNS_MAX] = (struct pollfd){.fd = node->listen_fd, .events = POLLIN};
        for (int i = 0; i < CONNS_MAX; i++)
            polled[i] = (struct pollfd){.fd = node->conns[i].fd, .events = POLLIN};
        poll(polled, CONNS_MAX + 1, 5);
        for (int i = 0; i < CONNS_MAX; i++)
            if (polled[i].fd >= 0 && polled[i].revents != 0 && !hear(node, &node->conns[i])) {
                close(node->conns[i].fd);
                node->conns[i].fd = -1;
            }
        if (polled[CONNS_MAX].revents != 0)
            admit(node);
    }
    return NULL;
}

/* A line of CLUSTER NODES; its node id is the letter `id` 40 times. */
static inline int node_line(char *out, size_t size, char id, int port, const char *flags,
                            int epoch, const char *slots)
{
    char ids[ID_LEN + 1];

    memset(ids, id, ID_LEN);
    ids[ID_LEN] = '\0';
    return snprintf(out, size, "%s 127.0.0.1:%d@1 %s - 0 0 %d connected%s%s\n", ids, port, flags,
                    epoch, slots[0] != '\0' ? " " : "", slots);
}

/* Both nodes answer CLUSTER NODES with `list`. */
static inline void say_list(const char *list)
{
    size_t size = strlen(list) + 32;
    char *text = malloc(size);

    assert_non_null(text);
    snprintf(text, size, "$%zu\r\n%s\r\n", strlen(list), list);
    for (int i = 0; i < NODES; i++)
        say(i, ON_NODES, text);
    free(text);
}

/* Both nodes answer CLUSTER NODES with both nodes, their slots and epochs. */
static inline void say_slots(const char *slots_a, int epoch_a, const char *slots_b, int epoch_b)
{
    char list[512];
    int len = node_line(list, sizeof(list), 'a', nodes[0].port, "master", epoch_a, slots_a);

    node_line(list + len, sizeof(list) - (size_t)len, 'b', nodes[1].port, "master", epoch_b,
              slots_b);
    say_list(list);
}

static inline void start_node(struct node *node)
{
    struct sockaddr_in address = {.sin_family = AF_INET,
                                  .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t len = sizeof(address);

    memset(node, 0, sizeof(*node));
    for (int i = 0; i < CONNS_MAX; i++)
        node->conns[i].fd = -1;
    pthread_mutex_init(&node->mutex, NULL);
    node->listen_fd = socket(AF_INET, SOCK_STREAM, 0);
    assert_int_equal(0, bind(node->listen_fd, (struct sockaddr *)&address, len));
    assert_int_equal(0, listen(node->listen_fd, CONNS_MAX));
    assert_int_equal(0, getsockname(node->listen_fd, (struct sockaddr *)&address, &len));
    node->port = ntohs(address.sin_port);
    assert_int_equal(0, pthread_create(&node->thread, NULL, serve, node));
}

/* The first node has all slots, and both nodes execute all commands. */
static inline int start_nodes(void **state)
{
    (void)state;
    for (int i = 0; i < NODES; i++) {
        start_node(&nodes[i]);
        say(i, ON_PING, "+PONG\r\n");
        say(i, ON_SCRIPT, "$40\r\naaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa\r\n");
        say(i, ON_ASKING, "+OK\r\n");
        say(i, ON_WAIT, ":1\r\n");
        say(i, ON_LOCK, "+OK\r\n");
    }
    say_slots("0-16383", 2, "", 1);
    return 0;
}

static inline int stop_nodes(void **state)
{
    (void)state;
    for (int i = 0; i < NODES; i++) {
        struct node *node = &nodes[i];

        atomic_store(&node->stopping, true);
        pthread_join(node->thread, NULL);
        for (int c = 0; c < CONNS_MAX; c++)
            if (node->conns[c].fd >= 0)
                close(node->conns[c].fd);
        close(node->listen_fd);
        for (int t = 0; t < TOPICS; t++)
            free(node->says[t]);
        pthread_mutex_destroy(&node->mutex);
    }
    return 0;
}

static inline dlock_status open_locks(const char *variant, int timeout_ms, dlock_system **out)
{
    dlock_options opts = dlock_options_default();
    char url[64];

    snprintf(url, sizeof(url), "redis-cluster://127.0.0.1:%d", nodes[0].port);
    opts.variant = variant;
    opts.redis_url = url;
    opts.redis_timeout_ms = timeout_ms;
    return dlock_open(out, &opts);
}

static inline int heard(enum topic topic)
{
    return atomic_load(&nodes[0].heard[topic]) + atomic_load(&nodes[1].heard[topic]);
}

static inline int64_t cpu_ms(void)
{
    struct timespec used;

    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &used);
    return used.tv_sec * 1000 + used.tv_nsec / 1000000;
}

/* Acquire the lock. With any answers of the nodes, the call has to end in its time, without
 * computing all the time, and without sending requests all the time. */
static inline dlock_status take(dlock_system *sys, int64_t wait_ms, dlock_lease *lease)
{
    int64_t begun_ns = dlock_clock_ns(), begun_cpu_ms = cpu_ms(), ms;
    int asked = heard(ON_LOCK), lists = heard(ON_NODES), subscribed = heard(ON_SUBSCRIBE);
    dlock_status st = dlock_acquire(sys, NAME, wait_ms, lease);

    ms = (dlock_clock_ns() - begun_ns) / DLOCK_NS_PER_MS;
    print_message("# %s in %d ms: %d commands, %d lists, %d subscriptions; %s\n",
                  dlock_status_id(st), (int)ms, heard(ON_LOCK) - asked, heard(ON_NODES) - lists,
                  heard(ON_SUBSCRIBE) - subscribed, dlock_error());
    assert_in_range(ms, 0, wait_ms + 3 * TIMEOUT_MS + SLACK_MS);
    assert_in_range(cpu_ms() - begun_cpu_ms, 0, ms / 2 + 300);
    assert_in_range(heard(ON_LOCK) - asked, 0, 60 + ms / 5);
    assert_in_range(heard(ON_NODES) - lists, 0, 20 + ms / 20);
    assert_in_range(heard(ON_SUBSCRIBE) - subscribed, 0, 20 + ms / 10);
    return st;
}

#endif /* TESTS_TOPOLOGY_FAKE_NODES_H */
