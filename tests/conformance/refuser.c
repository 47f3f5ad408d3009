/* SPDX-License-Identifier: MIT */
/* refuser.c -- a proxy that answers requests with an error of the server. */
#include "tests/conformance/refuser.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <poll.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "tests/conformance/rig.h"

enum {
    WIRES_MAX = 32,
    ROOM = 65536,
    LOOK_EVERY_MS = 2,
    SSL_REQUEST = 80877103, /* of PostgreSQL, in place of a version */
    GSS_REQUEST = 80877104,
};

struct stream {
    char bytes[ROOM];
    size_t len;
};

/* One connection.  The requests are answered in their order, so a request is refused only if all
 * earlier ones have their answers; `open_count` counts the others, of ZooKeeper. */
struct wire {
    int client, real; /* -1: none */
    struct stream asked, answered;
    bool has_begun;  /* the first message, which has no letter or is the greeting, was sent */
    bool is_in;      /* PostgreSQL has accepted the user */
    char transaction; /* what PostgreSQL said last: I, T or E */
    int open_count;
};

static struct {
    bool runs;
    enum refusal_store store;
    int listen_fd, target_port;
    pthread_t thread;
    atomic_bool stopping;
    _Atomic(const struct refuser_row *) row; /* NULL: requests are passed on */
    atomic_int looks, cuts_asked, cuts_done;
    struct wire wires[WIRES_MAX];
} refuser;

static uint32_t number_at(const char *at)
{
    uint32_t number;

    memcpy(&number, at, sizeof(number));
    return ntohl(number);
}

static char *put_number(char *at, uint32_t number)
{
    number = htonl(number);
    memcpy(at, &number, sizeof(number));
    return at + sizeof(number);
}

static void hang_up(struct wire *w)
{
    if (w->client >= 0)
        close(w->client);
    if (w->real >= 0)
        close(w->real);
    memset(w, 0, sizeof(*w));
    w->client = w->real = -1;
    w->transaction = 'I';
}

static bool send_all(int fd, const char *bytes, size_t len)
{
    return send(fd, bytes, len, MSG_NOSIGNAL) == (ssize_t)len;
}

/* ---- the length of the first request; 0: it is not complete ---- */

static size_t redis_length(const struct stream *s)
{
    const char *at = memchr(s->bytes, '\n', s->len);
    const char *end = s->bytes + s->len;
    long count = at != NULL ? strtol(s->bytes + 1, NULL, 10) : 0;

    for (; at != NULL && count > 0; count--) {
        const char *next = memchr(at + 1, '\n', (size_t)(end - at - 1));
        long len = next != NULL ? strtol(at + 2, NULL, 10) : 0;

        if (next == NULL || end - next < len + 3)
            return 0;
        at = next + len + 2;
    }
    return at != NULL ? (size_t)(at + 1 - s->bytes) : 0;
}

static size_t http_length(struct stream *s)
{
    const char *end, *length;

    s->bytes[s->len < ROOM ? s->len : ROOM - 1] = '\0';
    end = strstr(s->bytes, "\r\n\r\n");
    length = strcasestr(s->bytes, "Content-Length:");
    if (end == NULL)
        return 0;
    return (size_t)(end + 4 - s->bytes) + (length != NULL ? strtoul(length + 15, NULL, 10) : 0);
}

/* Messages that begin with `letter` bytes and a length, which counts itself `counted` bytes. */
static size_t framed_length(const struct stream *s, size_t letter, size_t counted)
{
    size_t len;

    if (s->len < letter + 4)
        return 0;
    len = letter + 4 + number_at(s->bytes + letter) - counted;
    return s->len >= len ? len : 0;
}

static size_t request_length(struct wire *w)
{
    size_t len;

    switch (refuser.store) {
    case REFUSAL_REDIS:
        return redis_length(&w->asked);
    case REFUSAL_POSTGRES:
        return framed_length(&w->asked, w->has_begun ? 1 : 0, 4);
    case REFUSAL_ZOOKEEPER:
        return framed_length(&w->asked, 0, 0);
    default:
        len = http_length(&w->asked);
        return w->asked.len >= len ? len : 0;
    }
}

/* ---- the refusals; false: the connection is to be closed ---- */

static bool refuse_redis(const struct wire *w, const struct refuser_row *row)
{
    char text[128];
    int len = snprintf(text, sizeof(text), "-%srefused by a law 127.0.0.1:1\r\n", row->code);

    return send_all(w->client, text, (size_t)len);
}

static bool refuse_http(const struct wire *w, const struct refuser_row *row)
{
    bool is_proxy = row->store == REFUSAL_HTTP;
    char body[160], text[400];
    int len;

    snprintf(body, sizeof(body), "%s", row->body != NULL ? row->body : "refused by a law");
    if (!is_proxy)
        snprintf(body, sizeof(body),
                 "{\"error\":\"refused by a law\",\"message\":\"refused by a law\",\"code\":%s}",
                 row->code);
    len = snprintf(text, sizeof(text), "HTTP/1.1 %s Refused\r\nContent-Length: %zu\r\n\r\n%s",
                   is_proxy ? row->code : "400", strlen(body), body);
    return send_all(w->client, text, (size_t)len);
}

/* The error of a connection that opens ends it. A class gets a code of its own. */
static bool refuse_postgres(struct wire *w, const struct refuser_row *row, bool is_commit)
{
    static const char ZEROS[] = "00000";
    const char *severity = w->is_in ? "ERROR" : "FATAL";
    char text[160], *at = text + 5;
    bool stays = w->is_in && !is_commit;

    at += sprintf(at, "S%s", severity) + 1;
    at += sprintf(at, "V%s", severity) + 1;
    at += sprintf(at, "C%s%s", row->code, ZEROS + strlen(row->code)) + 1;
    at += sprintf(at, "Mrefused by a law") + 1;
    *at++ = '\0';
    text[0] = 'E';
    put_number(text + 1, (uint32_t)(at - text - 1));
    if (w->is_in) {
        w->transaction = w->transaction == 'I' || is_commit ? 'I' : 'E';
        *at++ = 'Z';
        at = put_number(at, 5);
        *at++ = w->transaction;
    }
    return send_all(w->client, text, (size_t)(at - text)) && stays;
}

static bool refuse_zookeeper(const struct wire *w, const struct refuser_row *row)
{
    char text[20];

    memset(text, 0, sizeof(text));
    put_number(text, 16);
    memcpy(text + 4, w->asked.bytes + 4, 4); /* the number of the request */
    put_number(text + 16, (uint32_t)strtol(row->code, NULL, 10));
    return send_all(w->client, text, sizeof(text));
}

/* ---- requests ---- */

/* Must the request reach the server, although requests are refused? Subscriptions and watches are
 * not refused, and neither is the end of a transaction. */
static bool is_exempt(const struct wire *w)
{
    const char *at = w->asked.bytes;

    switch (refuser.store) {
    case REFUSAL_REDIS:
        return memmem(at, w->asked.len, "SUBSCRIBE\r\n", 11) != NULL;
    case REFUSAL_POSTGRES:
        return w->has_begun && ((!w->is_in && at[0] == 'p') || at[0] == 'X' ||
                                (at[0] == 'Q' && strcmp(at + 5, "ROLLBACK") == 0));
    case REFUSAL_ZOOKEEPER: /* the greeting, pings and the close */
        return !w->has_begun || (int32_t)number_at(at + 4) < 0 ||
               (int32_t)number_at(at + 8) == -11;
    default:
        return strncmp(at, "POST /v3/watch", 14) == 0;
    }
}

/* Refuse the first request. */
static bool refuse(struct wire *w, const struct refuser_row *row)
{
    const char *at = w->asked.bytes;

    switch (refuser.store) {
    case REFUSAL_REDIS:
        return refuse_redis(w, row);
    case REFUSAL_ZOOKEEPER:
        return refuse_zookeeper(w, row);
    case REFUSAL_POSTGRES:
        if (!w->has_begun && (number_at(at + 4) == SSL_REQUEST || number_at(at + 4) == GSS_REQUEST))
            return send_all(w->client, "N", 1);
        if (!w->has_begun || at[0] == 'S' || at[0] == 'Q')
            return refuse_postgres(w, row, at[0] == 'Q' && strcmp(at + 5, "COMMIT") == 0);
        return true; /* the Sync behind it is answered */
    default:
        return refuse_http(w, row);
    }
}

static void note_begin(struct wire *w)
{
    if (refuser.store == REFUSAL_POSTGRES && !w->has_begun &&
        (number_at(w->asked.bytes + 4) == SSL_REQUEST ||
         number_at(w->asked.bytes + 4) == GSS_REQUEST))
        return;
    if (refuser.store == REFUSAL_ZOOKEEPER && w->has_begun &&
        (int32_t)number_at(w->asked.bytes + 4) >= 0)
        w->open_count++;
    w->has_begun = true;
}

/* Work off the requests that have come. */
static bool take_requests(struct wire *w)
{
    size_t len;

    while ((len = request_length(w)) > 0) {
        const struct refuser_row *row = atomic_load(&refuser.row);
        bool goes_on;

        if (row == NULL || is_exempt(w)) {
            note_begin(w);
            goes_on = send_all(w->real, w->asked.bytes, len);
        } else if (w->open_count > 0) {
            return true;
        } else {
            goes_on = refuse(w, row);
        }
        if (!goes_on)
            return false;
        memmove(w->asked.bytes, w->asked.bytes + len, w->asked.len - len);
        w->asked.len -= len;
    }
    return true;
}

/* Note what an answer tells: PostgreSQL's state, and ZooKeeper's answered requests. */
static void note_answers(struct wire *w)
{
    bool is_postgres = refuser.store == REFUSAL_POSTGRES;
    struct stream *s = &w->answered;
    size_t len;

    if (is_postgres && !w->is_in && s->len == 1) /* the answer to an SSL request */
        s->len = 0;
    while ((len = framed_length(s, is_postgres ? 1 : 0, is_postgres ? 4 : 0)) > 0) {
        if (is_postgres && s->bytes[0] == 'Z') {
            w->is_in = true;
            w->transaction = s->bytes[5];
        } else if (!is_postgres && w->open_count > 0 && (int32_t)number_at(s->bytes + 4) > 0) {
            w->open_count--;
        }
        memmove(s->bytes, s->bytes + len, s->len - len);
        s->len -= len;
    }
}

static bool hear_server(struct wire *w)
{
    struct stream *s = &w->answered;
    ssize_t got = read(w->real, s->bytes + s->len, ROOM - s->len);

    if (got <= 0 || !send_all(w->client, s->bytes + s->len, (size_t)got))
        return false;
    if (refuser.store != REFUSAL_POSTGRES && refuser.store != REFUSAL_ZOOKEEPER)
        return true;
    s->len += (size_t)got;
    note_answers(w);
    return true;
}

static bool hear_client(struct wire *w)
{
    ssize_t got = read(w->client, w->asked.bytes + w->asked.len, ROOM - 1 - w->asked.len);

    w->asked.len += got > 0 ? (size_t)got : 0;
    return got > 0;
}

/* ---- the thread ---- */

static struct sockaddr_in loopback(int port)
{
    return (struct sockaddr_in){.sin_family = AF_INET,
                                .sin_port = htons((uint16_t)port),
                                .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
}

static void take_in(void)
{
    struct sockaddr_in target = loopback(refuser.target_port);
    int client = accept(refuser.listen_fd, NULL, NULL);

    for (int i = 0; client >= 0 && i < WIRES_MAX; i++) {
        struct wire *w = &refuser.wires[i];

        if (w->client >= 0)
            continue;
        w->client = client;
        w->real = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
        if (connect(w->real, (struct sockaddr *)&target, sizeof(target)) != 0)
            hang_up(w);
        return;
    }
    if (client >= 0)
        close(client);
}

static void relay(struct wire *w, bool from_client, bool from_real)
{
    if ((from_real && !hear_server(w)) || (from_client && !hear_client(w)) || !take_requests(w))
        hang_up(w);
}

static void look(void)
{
    struct pollfd polled[1 + 2 * WIRES_MAX] = {{.fd = refuser.listen_fd, .events = POLLIN}};
    int asked = atomic_load(&refuser.cuts_asked);

    if (atomic_load(&refuser.cuts_done) != asked)
        for (int i = 0; i < WIRES_MAX; i++)
            hang_up(&refuser.wires[i]);
    atomic_store(&refuser.cuts_done, asked);
    atomic_fetch_add(&refuser.looks, 1);
    for (int i = 0; i < WIRES_MAX; i++) {
        polled[1 + 2 * i] = (struct pollfd){.fd = refuser.wires[i].client, .events = POLLIN};
        polled[2 + 2 * i] = (struct pollfd){.fd = refuser.wires[i].real, .events = POLLIN};
    }
    poll(polled, 1 + 2 * WIRES_MAX, LOOK_EVERY_MS);
    for (int i = 0; i < WIRES_MAX; i++)
        if (refuser.wires[i].client >= 0)
            relay(&refuser.wires[i], polled[1 + 2 * i].revents != 0,
                  polled[2 + 2 * i].revents != 0);
    if (polled[0].revents != 0)
        take_in();
}

static void *run(void *arg)
{
    while (!atomic_load(&refuser.stopping))
        look();
    return arg;
}

/* ---- for the laws ---- */

const char *refuser_start(enum refusal_store store, const char *url)
{
    static char changed[256];
    struct sockaddr_in address = loopback(0);
    socklen_t size = sizeof(address);
    const char *place = strstr(url, "127.0.0.1:");
    const char *port = place != NULL ? place + strlen("127.0.0.1:") : NULL;

    assert_false(refuser.runs);
    assert_non_null(port);
    for (int i = 0; i < WIRES_MAX; i++) {
        refuser.wires[i].client = refuser.wires[i].real = -1;
        hang_up(&refuser.wires[i]);
    }
    refuser.store = store;
    refuser.target_port = atoi(port);
    refuser.listen_fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    assert_int_equal(0, bind(refuser.listen_fd, (struct sockaddr *)&address, size));
    assert_int_equal(0, listen(refuser.listen_fd, WIRES_MAX));
    assert_int_equal(0, getsockname(refuser.listen_fd, (struct sockaddr *)&address, &size));
    snprintf(changed, sizeof(changed), "%.*s%d%s", (int)(port - url), url,
             ntohs(address.sin_port), port + strspn(port, "0123456789"));
    atomic_store(&refuser.stopping, false);
    atomic_store(&refuser.row, NULL);
    assert_int_equal(0, pthread_create(&refuser.thread, NULL, run, NULL));
    refuser.runs = true;
    return changed;
}

/* After the return, what was sent before has passed. */
static void set(const struct refuser_row *row)
{
    int looks = atomic_load(&refuser.looks);

    assert_comes(atomic_load(&refuser.looks) - looks >= 2);
    atomic_store(&refuser.row, row);
}

void refuser_refuse(const struct refuser_row *row, bool cuts)
{
    set(row);
    if (cuts) {
        int number = atomic_fetch_add(&refuser.cuts_asked, 1) + 1;

        assert_comes(atomic_load(&refuser.cuts_done) == number);
    }
}

void refuser_pass(void)
{
    set(NULL);
}

void refuser_stop(void)
{
    if (!refuser.runs)
        return;
    atomic_store(&refuser.stopping, true);
    pthread_join(refuser.thread, NULL);
    for (int i = 0; i < WIRES_MAX; i++)
        hang_up(&refuser.wires[i]);
    close(refuser.listen_fd);
    refuser.runs = false;
}
