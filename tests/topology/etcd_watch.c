/* SPDX-License-Identifier: MIT */
/* etcd_watch.c -- waiters of the lock etcd whose watch arrives in pieces, ends, is
 * cancelled, or has invalid messages; and a slow etcd. */
#include <arpa/inet.h>
#include <poll.h>
#include <pthread.h>
#include <stdatomic.h>
#include <sys/socket.h>

#include "lock/dlock.h"
#include "lock/dlock_metrics.h"
#include "lock/stores/etcd_text.h"
#include "tests/registered.h"
#include "tests/topology/etcd_members.h"

/* ---- a proxy in front of a member of an etcd ----
 *
 * It cuts the answers to watches into pieces, or sends another text in place of a line. All other
 * requests and answers pass unchanged, or slowly. A watch is the first and only request on its
 * connection. */

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

static bool relay_send(int fd, const char *bytes, size_t len, bool slowly)
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

static bool relay_chunk(const struct relayed *conn, const char *bytes, size_t len,
                        bool slowly)
{
    static const char END[] = "\r\n";
    char head[32];
    int head_len = snprintf(head, sizeof(head), "%zx\r\n", len);

    return relay_send(conn->client, head, (size_t)head_len, slowly) &&
           relay_send(conn->client, bytes, len, slowly) &&
           relay_send(conn->client, END, strlen(END), slowly);
}

static bool relay_bytes(const struct relayed *conn)
{
    bool goes_on = true;

    for (size_t i = 0; goes_on && i < conn->line_len; i++)
        goes_on = relay_chunk(conn, conn->line + i, 1, false);
    return goes_on;
}

static bool relay_pairs(struct relayed *conn, bool is_event)
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
static bool relay_cut(struct relayed *conn)
{
    char head[32];
    int head_len = snprintf(head, sizeof(head), "%zx\r\n", conn->line_len);

    atomic_store(&relay.mode, RELAY_WHOLE);
    (void)relay_send(conn->client, head, (size_t)head_len, false);
    (void)relay_send(conn->client, conn->line, conn->line_len / 2, false);
    return false;
}

/* Replace the next line of a watch whose request contains `says_to` by `says`. */
static void relay_say(const char *says, const char *says_to)
{
    pthread_mutex_lock(&relay.mutex);
    relay.says = says;
    snprintf(relay.says_to, sizeof(relay.says_to), "%s", says_to);
    pthread_mutex_unlock(&relay.mutex);
}

/* Was the text of relay_say() sent? */
static bool relay_has_said(void)
{
    bool has_said;

    pthread_mutex_lock(&relay.mutex);
    has_said = relay.says == NULL;
    pthread_mutex_unlock(&relay.mutex);
    return has_said;
}

/* The text that replaces a line; NULL: the line is sent. */
static const char *relay_take_says(const struct relayed *conn)
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
static bool relay_line(struct relayed *conn)
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

static void relay_forget(struct relayed *conn, size_t len)
{
    memmove(conn->raw, conn->raw + len, conn->raw_len - len);
    conn->raw_len -= len;
}

/* Take one whole chunk from the received bytes. Returns false if no chunk is complete yet. */
static bool relay_take_chunk(struct relayed *conn)
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
static bool relay_watch(struct relayed *conn)
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

static bool relay_answer(struct relayed *conn)
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

static bool relay_request(struct relayed *conn, bool is_first)
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

static int relay_connect(void)
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

static void *relay_serve(void *arg)
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

static void *relay_run(void *arg)
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
static void relay_start(int real_port)
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

static void relay_stop(void)
{
    atomic_store(&relay.stopping, true);
    shutdown(relay.listen_fd, SHUT_RDWR);
    pthread_join(relay.thread, NULL);
    close(relay.listen_fd);
    assert_comes(atomic_load(&relay.conn_count) == 0);
}

enum {
    TIMEOUT_MS = 1000,
    LEASE_MS = 20000,
    STILL_MS = 150, /* in this time a waiter that is let in wrongly would show it */
    ROUNDS_MAX = 20,
    REQUESTS_MOST = 40, /* of a short wait; a wait that asks without pauses sends hundreds */
    OUTLIVED_MS = 1500, /* a wait after which the waiter's lease has less than LEASE_MS left */
    REFUSED_MS = 1000,
    REFUSED_EVERY_MS = 25, /* at most one request in this time */
    TEXT_SIZE = 1024,
};

static char url[URL_SIZE];

static dlock_system *open_locks(const char *at)
{
    dlock_options opts = dlock_options_default();
    dlock_system *sys;

    opts.variant = "etcd";
    opts.etcd_url = at;
    opts.etcd_timeout_ms = TIMEOUT_MS;
    opts.lease_ms = LEASE_MS;
    opts.watchdog = true;
    assert_int_equal(DLOCK_OK, dlock_open(&sys, &opts));
    return sys;
}

/* A thread that waits for a lock, and releases it at once. */
struct waiting {
    dlock_system *sys;
    const char *name;
    atomic_bool is_in;
    dlock_status acquired, released;
    uint64_t requests; /* before the wait */
    pthread_t thread;
};

static void *wait_and_leave(void *arg)
{
    struct waiting *waiting = arg;
    dlock_lease lease;

    waiting->acquired = dlock_acquire(waiting->sys, waiting->name, PATIENCE_MS, &lease);
    atomic_store(&waiting->is_in, true);
    if (waiting->acquired == DLOCK_OK)
        waiting->released = dlock_release(waiting->sys, &lease);
    return NULL;
}

static int waiters(dlock_system *sys, const char *name)
{
    dlock_info info;

    assert_int_equal(DLOCK_OK, dlock_inspect(sys, name, &info));
    return info.waiter_count;
}

static uint64_t wake_ups(dlock_system *sys)
{
    dlock_metrics metrics;

    dlock_metrics_read(sys, &metrics);
    return metrics.wake_ups - metrics.useless_wake_ups;
}

static uint64_t requests_of(dlock_system *sys)
{
    dlock_metrics metrics;

    dlock_metrics_read(sys, &metrics);
    return metrics.acquire_commands;
}

/* `holder` is connected to the member directly, and the waiter through the relay. */
static void begin_to_wait(struct waiting *waiting, dlock_system *holder, dlock_lease *held)
{
    assert_int_equal(DLOCK_OK, dlock_acquire(holder, waiting->name, PATIENCE_MS, held));
    atomic_store(&waiting->is_in, false);
    waiting->acquired = waiting->released = DLOCK_INVALID;
    waiting->requests = requests_of(waiting->sys);
    assert_int_equal(0, pthread_create(&waiting->thread, NULL, wait_and_leave, waiting));
    assert_comes(waiters(holder, waiting->name) == 1);
}

static void assert_still_out(struct waiting *waiting)
{
    pause_ms(STILL_MS);
    if (atomic_load(&waiting->is_in))
        fail_msg("%s: a waiter came in: %s", waiting->name, dlock_status_text(waiting->acquired));
}

static void hand_over(struct waiting *waiting, dlock_system *holder, dlock_lease *held)
{
    assert_int_equal(DLOCK_OK, dlock_release(holder, held));
    assert_int_equal(0, pthread_join(waiting->thread, NULL));
    assert_int_equal(DLOCK_OK, waiting->acquired);
    assert_int_equal(DLOCK_OK, waiting->released);
    assert_true(requests_of(waiting->sys) - waiting->requests <= REQUESTS_MOST);
}

/* A waiter that looks by itself, every 2 s, gets the lock too. So at least one of several waiters
 * has to be woken by the watch. */
static void assert_is_told(struct waiting *waiting, dlock_system *holder)
{
    for (int i = 0; i < ROUNDS_MAX; i++) {
        uint64_t before = wake_ups(waiting->sys);
        dlock_lease held;

        begin_to_wait(waiting, holder, &held);
        assert_still_out(waiting);
        hand_over(waiting, holder, &held);
        if (wake_ups(waiting->sys) > before)
            return;
    }
    fail_msg("%s: no waiter was told in %d hand-overs", waiting->name, ROUNDS_MAX);
}

TEST_WITH(mend, NULL, a_watch_may_come_in_any_pieces)
{
    static const enum relay_mode MODES[] = {RELAY_WHOLE, RELAY_BYTES, RELAY_PAIRS, RELAY_CUT};
    static const char *const NAMES[] = {"whole", "bytes", "pairs", "cut"};
    dlock_system *sys = open_locks(url), *holder = open_locks(company.urls);

    for (size_t i = 0; i < sizeof(MODES) / sizeof(MODES[0]); i++) {
        struct waiting waiting = {.sys = sys, .name = NAMES[i]};

        atomic_store(&relay.mode, MODES[i]);
        assert_is_told(&waiting, holder);
    }
    atomic_store(&relay.mode, RELAY_WHOLE);
    dlock_close(holder);
    dlock_close(sys);
}

/* The watch of a slow member is too late, so the waiter looks by itself. */
TEST_WITH(mend, NULL, a_slow_watch_keeps_nobody_out)
{
    dlock_system *sys = open_locks(url), *holder = open_locks(company.urls);
    struct waiting waiting = {.sys = sys, .name = "slow"};
    dlock_lease held;

    atomic_store(&relay.mode, RELAY_SLOW);
    begin_to_wait(&waiting, holder, &held);
    assert_still_out(&waiting);
    hand_over(&waiting, holder, &held);
    atomic_store(&relay.mode, RELAY_WHOLE);
    dlock_close(holder);
    dlock_close(sys);
}

/* An answer after the timeout counts as none, and its request must leave nothing in etcd. */
TEST_WITH(mend, NULL, a_slow_answer_is_none)
{
    dlock_system *sys = open_locks(url), *other = open_locks(company.urls);
    dlock_lease lease;
    int64_t began_ns = dlock_clock_ns();
    dlock_status st;

    atomic_store(&relay.answers_slowly, true);
    st = dlock_acquire(sys, "slow answers", 0, &lease);
    assert_true(st == DLOCK_UNKNOWN || st == DLOCK_IO);
    assert_non_null(strstr(dlock_error(), "127.0.0.1"));
    assert_true(dlock_clock_ns() - began_ns < 8 * TIMEOUT_MS * DLOCK_NS_PER_MS);
    assert_int_equal(DLOCK_IO, dlock_check(sys));
    atomic_store(&relay.answers_slowly, false);
    assert_comes(dlock_acquire(sys, "slow answers", 0, &lease) == DLOCK_OK);
    assert_int_equal(DLOCK_OK, dlock_release(sys, &lease));
    assert_comes(dlock_acquire(other, "slow answers", 0, &lease) == DLOCK_OK);
    assert_int_equal(DLOCK_OK, dlock_release(other, &lease));
    dlock_close(other);
    dlock_close(sys);
}

/* The answer to the put of a key is lost, and so is the request that revokes its lease. The key
 * stays, and threads of the same process wait behind it. The process has to revoke the lease before
 * the lease ends by itself. */
TEST_WITH(mend, NULL, a_key_that_nobody_owns_is_ended_while_all_wait)
{
    dlock_system *sys = open_locks(url);
    struct waiting waiting = {.sys = sys, .name = "orphan"};
    dlock_lease lease;
    int64_t mended_ns;

    /* The system's lease is kept, so its next request is a put. */
    assert_int_equal(DLOCK_OK, dlock_acquire(sys, "before", 0, &lease));
    assert_int_equal(DLOCK_OK, dlock_release(sys, &lease));
    atomic_store(&relay.refused_count, 0);
    atomic_store(&relay.refuses, "/v3/lease/revoke");
    atomic_store(&relay.answers_slowly, true);
    waiting.requests = requests_of(sys);
    assert_int_equal(0, pthread_create(&waiting.thread, NULL, wait_and_leave, &waiting));
    assert_comes(atomic_load(&relay.refused_count) > 0);
    atomic_store(&relay.answers_slowly, false);
    atomic_store(&relay.refuses, NULL);
    mended_ns = dlock_clock_ns();
    assert_int_equal(0, pthread_join(waiting.thread, NULL));
    assert_int_equal(DLOCK_OK, waiting.acquired);
    assert_true(dlock_clock_ns() - mended_ns < LEASE_MS / 2 * DLOCK_NS_PER_MS);
    dlock_close(sys);
}

/* The watch tells the waiter that it is the first, but etcd does not renew its lease. The waiter
 * asks again, with pauses. */
TEST_WITH(mend, NULL, a_first_waiter_that_is_refused_asks_with_pauses)
{
    dlock_system *sys = open_locks(url), *holder = open_locks(company.urls);
    struct waiting waiting = {.sys = sys, .name = "refused"};
    dlock_lease held;
    int64_t began_ns;
    int count;

    begin_to_wait(&waiting, holder, &held);
    atomic_store(&relay.refused_count, 0);
    atomic_store(&relay.refuses, "/v3/lease/keepalive");
    pause_ms(OUTLIVED_MS);
    assert_int_equal(DLOCK_OK, dlock_release(holder, &held));
    assert_comes(atomic_load(&relay.refused_count) > 0);
    began_ns = dlock_clock_ns();
    pause_ms(REFUSED_MS);
    count = atomic_load(&relay.refused_count);
    if (count > REQUESTS_MOST + (dlock_clock_ns() - began_ns) / DLOCK_NS_PER_MS / REFUSED_EVERY_MS)
        fail_msg("asked %d times within %d ms", count, REFUSED_MS);
    assert_false(atomic_load(&waiting.is_in));
    atomic_store(&relay.refuses, NULL);
    assert_int_equal(0, pthread_join(waiting.thread, NULL));
    assert_int_equal(DLOCK_OK, waiting.acquired);
    assert_int_equal(DLOCK_OK, waiting.released);
    dlock_close(holder);
    dlock_close(sys);
}

/* ---- messages that no etcd sends ---- */

#define RESULT(rest) "{\"result\":{\"header\":{\"revision\":\"9\"}" rest "}}\n"

static const char *const LIES[] = {
    "\n",
    "{}\n",
    "[]\n",
    "null\n",
    "hello\n",
    "{\"result\":7}\n",
    "{\"result\":{\"created\":true}}\n{\"result\":\n",
    "{\"result\":{},\"result\":{}}\n",
    "{\"error\":{\"grpc_code\":14,\"http_code\":503,\"message\":\"no leader\"}}\n",
    RESULT(",\"canceled\":true"),
    RESULT(",\"canceled\":true,\"cancel_reason\":\"because\"") RESULT(",\"created\":true"),
    RESULT(",\"canceled\":true,\"compact_revision\":\"3\""),
    RESULT(",\"compact_revision\":\"4611686018427387904\""),
    RESULT(",\"compact_revision\":3"),
    RESULT(",\"compact_revision\":\"-3\""),
    RESULT(",\"events\":{}"),
    RESULT(",\"events\":7"),
    RESULT(",\"events\":[]"),
    RESULT(",\"events\":[null]"),
    RESULT(",\"events\":[{}]"),
    RESULT(",\"events\":[{\"type\":\"DELETE\",\"kv\":{}}]"),
    RESULT(",\"events\":[{\"type\":\"DELETE\",\"kv\":{\"key\":\"!\",\"mod_revision\":\"9\"}}]"),
    RESULT(",\"events\":[{\"type\":\"DELETE\",\"kv\":{\"key\":\"YQ==\",\"mod_revision\":9}}]"),
    RESULT(",\"events\":[{\"type\":\"DELETE\",\"kv\":{\"key\":\"YQ==\"}}]"),
    RESULT(",\"events\":[{\"type\":7,\"kv\":{\"key\":\"YQ==\",\"mod_revision\":\"-1\"}}]"),
    RESULT(",\"events\":[{\"kv\":{\"key\":\"YQ==\",\"mod_revision\":\"4611686018427387904\"}}]"),
    RESULT(",\"events\":[{\"kv\":{\"key\":\"YQ==\",\"mod_revision\":\"9\"}},"
           "{\"kv\":{\"key\":\"YQ==\",\"mod_revision\":\"8\"}}]"),
    "{\"result\":{\"header\":{\"cluster_id\":\"7\",\"revision\":\"9\"},\"created\":true}}\n",
};

/* Replace the next line of the lock's watch by a false message. */
static void lie(const char *name, const char *text)
{
    struct etcd_range range = etcd_range_of(name);

    relay_say(text, range.from);
}

/* The false message replaces the first line of a watch, and then an event. No waiter gets the lock
 * by it, and later messages of the watch are believed again. */
TEST_WITH(mend, NULL, a_watch_that_lies_lets_nobody_in)
{
    dlock_system *sys = open_locks(url), *holder = open_locks(company.urls);
    char name[32];

    for (size_t i = 0; i < sizeof(LIES) / sizeof(LIES[0]); i++) {
        struct waiting waiting = {.sys = sys, .name = name};
        dlock_lease held;

        snprintf(name, sizeof(name), "lie-%zu", i);
        lie(name, LIES[i]);
        begin_to_wait(&waiting, holder, &held);
        assert_comes(relay_has_said());
        assert_still_out(&waiting);
        hand_over(&waiting, holder, &held);
        begin_to_wait(&waiting, holder, &held);
        assert_still_out(&waiting);
        lie(name, LIES[i]);
        hand_over(&waiting, holder, &held);
        relay_say(NULL, "");
        assert_is_told(&waiting, holder);
    }
    dlock_close(holder);
    dlock_close(sys);
}

/* The lease in the name of the first or the last key of the lock. */
static uint64_t lease_of(const char *name, const char *order)
{
    char command[TEXT_SIZE], text[TEXT_SIZE] = "";
    FILE *out;

    snprintf(command, sizeof(command),
             "ETCDCTL_API=3 etcdctl --endpoints=127.0.0.1:%d get --prefix %s/ --keys-only "
             "--limit=1 --sort-by=CREATE --order=%s",
             company.ports[0], name, order);
    out = popen(command, "r");
    assert_non_null(out);
    assert_true(fread(text, 1, sizeof(text) - 1, out) > 0);
    assert_int_equal(0, pclose(out));
    assert_non_null(strchr(text, '/'));
    return strtoull(strchr(text, '/') + 1, NULL, 16);
}

/* The watch reports a deletion that did not happen: of the holder's key, and of the waiter's own.
 * The report does not have the create revision of the deleted key, so the waiter has to ask. */
TEST_WITH(mend, NULL, an_end_that_never_was_lets_nobody_in)
{
    dlock_system *sys = open_locks(url), *holder = open_locks(company.urls);
    dlock_system *third = open_locks(company.urls);
    static const char *const ORDERS[] = {"ASCEND", "DESCEND"};
    struct waiting waiting = {.sys = sys, .name = "never"};
    char text[TEXT_SIZE], key[ETCD_KEY_SIZE];
    dlock_lease held, none;

    for (size_t i = 0; i < sizeof(ORDERS) / sizeof(ORDERS[0]); i++) {
        begin_to_wait(&waiting, holder, &held);
        etcd_key_of(key, waiting.name, lease_of(waiting.name, ORDERS[i]));
        snprintf(text, sizeof(text),
                 RESULT(",\"events\":[{\"type\":\"DELETE\",\"kv\":{\"key\":\"%s\","
                        "\"mod_revision\":\"%llu\"}}]"),
                 key, (unsigned long long)held.fence + 1000);
        assert_still_out(&waiting);
        lie(waiting.name, text);
        /* The false message replaces the end of a third key, behind the waiter's key. */
        assert_int_equal(DLOCK_TIMEOUT, dlock_acquire(third, waiting.name, 50, &none));
        assert_comes(relay_has_said());
        assert_still_out(&waiting);
        assert_int_equal(1, waiters(holder, waiting.name));
        hand_over(&waiting, holder, &held);
        assert_is_told(&waiting, holder);
    }
    dlock_close(third);
    dlock_close(holder);
    dlock_close(sys);
}

static int set_up_relay(void **state)
{
    int st = set_up(state);

    relay_start(company.ports[0]);
    snprintf(url, sizeof(url), "http://127.0.0.1:%d", relay.port);
    return st;
}

static int tear_down_relay(void **state)
{
    relay_stop();
    return tear_down(state);
}

GROUP(set_up_relay, tear_down_relay)
