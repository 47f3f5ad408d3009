/* SPDX-License-Identifier: MIT */
/* etcd_proxies.c -- the lock etcd behind a proxy that delays a request, or that forwards a request
 * and answers it with an error page of its own. */
#include "tests/registered.h"
#include "tests/topology/etcd_members.h"

#include <arpa/inet.h>
#include <poll.h>
#include <pthread.h>
#include <stdatomic.h>
#include <sys/socket.h>

#include "lock/dlock.h"

enum {
    TIMEOUT_MS = 4000,
    LEASE_MS = 20000,
    THREADS = 8,
    ROUNDS_MAX = 500, /* the most rounds until some of the threads share a request */
    NAME_SIZE = 16,
    ROOM = 65536,
    POLL_MS = 50,
};

#define PAGE                                                                           \
    "HTTP/1.1 502 Bad Gateway\r\nContent-Type: text/html\r\nContent-Length: 13\r\n\r\n" \
    "<html></html>"

enum proxy_mode {
    PROXY_PASSES,
    PROXY_KEEPS_PUTS,        /* delays puts of claims that do not wait, until the mode changes */
    /* Forwards a request that releases several locks, and answers with its page. */
    PROXY_ANSWERS_RELEASES,
};

/* The proxy in front of the first member. */
static struct {
    int listen_fd, port;
    pthread_t thread;
    _Atomic enum proxy_mode mode;
    atomic_bool stopping;
    atomic_int conn_count;
    /* Requests that are delayed, and requests that were forwarded late. */
    atomic_int kept_count, late_count;
    atomic_int page_count;             /* requests that were answered with the page */
} proxy;

/* A message of HTTP. */
struct message {
    char bytes[ROOM];
    size_t len;
};

static bool is_whole(const struct message *m)
{
    const char *body = strstr(m->bytes, "\r\n\r\n");
    const char *length = strcasestr(m->bytes, "Content-Length:");
    size_t head;

    if (body == NULL)
        return false;
    head = (size_t)(body - m->bytes) + 4;
    if (length != NULL && length < body)
        return m->len >= head + strtoul(length + strlen("Content-Length:"), NULL, 10);
    /* The last chunk. An error of etcd has a trailer after it. */
    return strstr(body, "\r\n0\r\n") != NULL && strcmp(m->bytes + m->len - 4, "\r\n\r\n") == 0;
}

/* Read a message. Returns false if the other end has closed. */
static bool read_message(int fd, struct message *m)
{
    m->len = 0;
    m->bytes[0] = '\0';
    while (!is_whole(m) && !atomic_load(&proxy.stopping)) {
        struct pollfd polled = {fd, POLLIN, 0};
        ssize_t got;

        if (poll(&polled, 1, POLL_MS) <= 0)
            continue;
        got = recv(fd, m->bytes + m->len, ROOM - 1 - m->len, 0);
        if (got <= 0)
            return false;
        m->len += (size_t)got;
        m->bytes[m->len] = '\0';
    }
    return !atomic_load(&proxy.stopping);
}

static bool send_all(int fd, const char *bytes, size_t len)
{
    return send(fd, bytes, len, MSG_NOSIGNAL) == (ssize_t)len;
}

/* Is the request the put of a claim that does not wait? */
static bool is_put(const struct message *asked)
{
    return strstr(asked->bytes, "\"compare\"") != NULL &&
           strstr(asked->bytes, "\"request_put\"") != NULL;
}

/* Does the request release several locks? */
static bool is_of_several(const struct message *asked)
{
    static const char RELEASE[] = "\"request_delete_range\"";
    const char *first = strstr(asked->bytes, RELEASE);

    return first != NULL && strstr(first + 1, RELEASE) != NULL;
}

/* Forward a request, and its answer. Returns false if the connection is to be closed. */
static bool pass(int client, int real, const struct message *asked)
{
    static _Thread_local struct message answered;
    enum proxy_mode mode = atomic_load(&proxy.mode);
    bool is_late = mode == PROXY_KEEPS_PUTS && is_put(asked);

    if (is_late)
        atomic_fetch_add(&proxy.kept_count, 1);
    while (is_late && atomic_load(&proxy.mode) == PROXY_KEEPS_PUTS)
        pause_ms(POLL_MS);
    if (!send_all(real, asked->bytes, asked->len) || !read_message(real, &answered))
        return false;
    if (is_late)
        atomic_fetch_add(&proxy.late_count, 1);
    if (mode != PROXY_ANSWERS_RELEASES || !is_of_several(asked))
        return send_all(client, answered.bytes, answered.len);
    atomic_fetch_add(&proxy.page_count, 1);
    return send_all(client, PAGE, strlen(PAGE));
}

static int connect_to_member(void)
{
    struct sockaddr_in at = {.sin_family = AF_INET,
                             .sin_port = htons((uint16_t)company.ports[0]),
                             .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

    if (fd < 0 || connect(fd, (struct sockaddr *)&at, sizeof(at)) != 0)
        abort();
    return fd;
}

static void *serve(void *arg)
{
    static _Thread_local struct message asked;
    int client = *(int *)arg, real = connect_to_member();

    free(arg);
    while (read_message(client, &asked) && pass(client, real, &asked))
        continue;
    close(real);
    close(client);
    atomic_fetch_sub(&proxy.conn_count, 1);
    return NULL;
}

static void *accept_all(void *arg)
{
    int fd;

    while ((fd = accept4(proxy.listen_fd, NULL, NULL, SOCK_CLOEXEC)) >= 0) {
        int *own = malloc(sizeof(*own));
        pthread_t thread;

        if (own == NULL)
            abort();
        *own = fd;
        atomic_fetch_add(&proxy.conn_count, 1);
        if (pthread_create(&thread, NULL, serve, own) != 0)
            abort();
        pthread_detach(thread);
    }
    return arg;
}

static dlock_system *open_locks(const char *url)
{
    dlock_options opts = dlock_options_default();
    dlock_system *sys;

    opts.variant = "etcd";
    opts.etcd_url = url;
    opts.etcd_timeout_ms = TIMEOUT_MS;
    opts.lease_ms = LEASE_MS;
    opts.watchdog = true;
    assert_int_equal(DLOCK_OK, dlock_open(&sys, &opts));
    return sys;
}

static bool is_taken(dlock_system *sys, const char *name)
{
    dlock_lease lease;

    return dlock_acquire(sys, name, 0, &lease) == DLOCK_OK &&
           dlock_release(sys, &lease) == DLOCK_OK;
}

/* The keys of "shop/a" begin like those of "shop", so the library puts the key of "shop" a second
 * time. The first put stays in the proxy, and reaches etcd after the lock was released. */
TEST_WITH(mend, NULL, a_late_first_put_leaves_no_key)
{
    char url[URLS_SIZE];
    dlock_system *sys, *other = open_locks(company.urls);
    dlock_lease inner, lease;

    snprintf(url, sizeof(url), "http://127.0.0.1:%d,127.0.0.1:%d", proxy.port, company.ports[1]);
    sys = open_locks(url);
    assert_true(is_taken(sys, "before")); /* its lease is kept, so the next request is a put */
    assert_int_equal(DLOCK_OK, dlock_acquire(other, "shop/a", 0, &inner));
    atomic_store(&proxy.mode, PROXY_KEEPS_PUTS);
    assert_comes(dlock_acquire(sys, "shop", 0, &lease) == DLOCK_OK);
    assert_int_equal(1, atomic_load(&proxy.kept_count));
    assert_int_equal(DLOCK_OK, dlock_release(sys, &lease));
    assert_int_equal(DLOCK_OK, dlock_release(other, &inner));
    atomic_store(&proxy.mode, PROXY_PASSES);
    assert_comes(atomic_load(&proxy.late_count) == 1);
    assert_true(is_taken(other, "shop"));
    dlock_close(other);
    dlock_close(sys);
}

/* ---- several releases in one request ---- */

static struct {
    dlock_system *sys;
    pthread_barrier_t barrier;
    atomic_int failures, lost_count, unsure_count;
} holders;

static void *take_and_leave(void *arg)
{
    dlock_lease lease;

    for (int i = 0; i < ROUNDS_MAX && atomic_load(&proxy.page_count) == 0; i++) {
        dlock_status taken = dlock_acquire(holders.sys, arg, PATIENCE_MS, &lease), left;

        pthread_barrier_wait(&holders.barrier);
        left = taken == DLOCK_OK ? dlock_release(holders.sys, &lease) : DLOCK_OK;
        atomic_fetch_add(&holders.lost_count, left == DLOCK_LOST);
        atomic_fetch_add(&holders.unsure_count, left == DLOCK_UNKNOWN);
        atomic_fetch_add(&holders.failures, taken != DLOCK_OK || (left != DLOCK_OK &&
                                                                left != DLOCK_LOST &&
                                                                left != DLOCK_UNKNOWN));
        /* All threads read the same number of pages. */
        pthread_barrier_wait(&holders.barrier);
    }
    return NULL;
}

/* etcd has released the locks, and the library sends each release again. The second answer does not
 * show who released the lock, so it must not be LOST. */
TEST_WITH(mend, NULL, releases_that_a_page_answers_are_not_lost)
{
    dlock_system *other = open_locks(company.urls);
    char url[URL_SIZE], names[THREADS][2 * NAME_SIZE];
    pthread_t threads[THREADS];

    snprintf(url, sizeof(url), "http://127.0.0.1:%d", proxy.port);
    memset(&holders, 0, sizeof(holders));
    holders.sys = open_locks(url);
    pthread_barrier_init(&holders.barrier, NULL, THREADS);
    atomic_store(&proxy.mode, PROXY_ANSWERS_RELEASES);
    for (int i = 0; i < THREADS; i++) {
        snprintf(names[i], sizeof(names[i]), "page-%d", i);
        assert_int_equal(0, pthread_create(&threads[i], NULL, take_and_leave, names[i]));
    }
    for (int i = 0; i < THREADS; i++)
        assert_int_equal(0, pthread_join(threads[i], NULL));
    atomic_store(&proxy.mode, PROXY_PASSES);
    assert_true(atomic_load(&proxy.page_count) > 0);
    assert_int_equal(0, atomic_load(&holders.failures));
    assert_int_equal(0, atomic_load(&holders.lost_count));
    assert_true(atomic_load(&holders.unsure_count) >= 2);
    for (int i = 0; i < THREADS; i++)
        assert_true(is_taken(other, names[i]));
    pthread_barrier_destroy(&holders.barrier);
    dlock_close(holders.sys);
    dlock_close(other);
}

static int set_up_proxy(void **state)
{
    struct sockaddr_in at = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t len = sizeof(at);
    int st = set_up(state);

    proxy.listen_fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    assert_int_equal(0, bind(proxy.listen_fd, (struct sockaddr *)&at, sizeof(at)));
    assert_int_equal(0, listen(proxy.listen_fd, 64));
    assert_int_equal(0, getsockname(proxy.listen_fd, (struct sockaddr *)&at, &len));
    proxy.port = ntohs(at.sin_port);
    assert_int_equal(0, pthread_create(&proxy.thread, NULL, accept_all, NULL));
    return st;
}

static int tear_down_proxy(void **state)
{
    atomic_store(&proxy.mode, PROXY_PASSES);
    atomic_store(&proxy.stopping, true);
    shutdown(proxy.listen_fd, SHUT_RDWR);
    pthread_join(proxy.thread, NULL);
    close(proxy.listen_fd);
    assert_comes(atomic_load(&proxy.conn_count) == 0);
    return tear_down(state);
}

GROUP(set_up_proxy, tear_down_proxy)
