/* SPDX-License-Identifier: MIT */
/* etcd_wire.c -- POSTs by HTTP on connections that are kept: libcurl, and nothing of etcd.
 *
 * An idle connection is a handle of libcurl, which keeps its socket.  The one that was used
 * last is taken first, so few are in use while few threads are. */
#include "lock/stores/etcd_wire.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#include "base/os/mutex.h"
#include "base/os/once.h"

enum {
    IDLE_MAX = 512,        /* connections kept; more are closed after their request */
    ANSWER_MAX = 16 << 20, /* bytes: a queue of 100,000 */
    MEMBER_SIZE = 300,
    LINE_SIZE = 600,
};

struct wire {
    CURL *easy;
    char member[MEMBER_SIZE]; /* that it is connected to, if it still is; "" */
    struct etcd_answer answer;
};

struct etcd_wires {
    struct dlock_mutex mutex; /* of what follows */
    struct wire *idle[IDLE_MAX];
    int idle_count;
};

static void init_curl(void)
{
    (void)curl_global_init(CURL_GLOBAL_DEFAULT);
}

struct etcd_wires *etcd_wires_open(void)
{
    static struct dlock_once once = DLOCK_ONCE_INITIALIZER;
    struct etcd_wires *wires = calloc(1, sizeof(*wires));

    dlock_once_run(&once, init_curl);
    if (wires != NULL)
        dlock_mutex_init(&wires->mutex);
    return wires;
}

static void hang_up(struct wire *wire)
{
    curl_easy_cleanup(wire->easy);
    free(wire->answer.bytes);
    free(wire);
}

void etcd_wires_close(struct etcd_wires *wires)
{
    if (wires == NULL)
        return;
    while (wires->idle_count > 0)
        hang_up(wires->idle[--wires->idle_count]);
    dlock_mutex_destroy(&wires->mutex);
    free(wires);
}

static size_t on_answer(char *bytes, size_t size, size_t count, void *arg)
{
    struct etcd_answer *answer = arg;
    size_t len = size * count;
    char *grown;

    if (len > ANSWER_MAX - answer->len)
        return 0;
    grown = realloc(answer->bytes, answer->len + len + 1);
    if (grown == NULL)
        return 0;
    answer->bytes = grown;
    memcpy(grown + answer->len, bytes, len);
    answer->len += len;
    grown[answer->len] = '\0';
    return len;
}

static struct wire *make_wire(void)
{
    struct wire *wire = calloc(1, sizeof(*wire));

    if (wire == NULL)
        return NULL;
    wire->easy = curl_easy_init();
    if (wire->easy != NULL &&
        curl_easy_setopt(wire->easy, CURLOPT_WRITEFUNCTION, on_answer) == CURLE_OK &&
        curl_easy_setopt(wire->easy, CURLOPT_WRITEDATA, &wire->answer) == CURLE_OK)
        return wire;
    hang_up(wire);
    return NULL;
}

/* An idle connection has nothing to say: it was hung up, or what comes is the answer to no
 * request, and would be taken for that to the next one. */
static bool is_quiet(const struct wire *wire)
{
    curl_socket_t fd = CURL_SOCKET_BAD;
    char byte;

    (void)curl_easy_getinfo(wire->easy, CURLINFO_ACTIVESOCKET, &fd);
    return fd != CURL_SOCKET_BAD && recv(fd, &byte, 1, MSG_PEEK | MSG_DONTWAIT) < 0;
}

static struct wire *take_idle(struct etcd_wires *wires)
{
    struct wire *wire = NULL;

    dlock_mutex_lock(&wires->mutex);
    if (wires->idle_count > 0)
        wire = wires->idle[--wires->idle_count];
    dlock_mutex_unlock(&wires->mutex);
    return wire;
}

static struct wire *take(struct etcd_wires *wires)
{
    struct wire *wire = take_idle(wires);

    while (wire != NULL && !is_quiet(wire)) {
        hang_up(wire);
        wire = take_idle(wires);
    }
    return wire != NULL ? wire : make_wire();
}

static void give(struct etcd_wires *wires, struct wire *wire)
{
    dlock_mutex_lock(&wires->mutex);
    if (wires->idle_count < IDLE_MAX) {
        wires->idle[wires->idle_count++] = wire;
        wire = NULL;
    }
    dlock_mutex_unlock(&wires->mutex);
    if (wire != NULL)
        hang_up(wire);
}

static struct curl_slist *make_headers(const char *token)
{
    struct curl_slist *headers = curl_slist_append(NULL, "Content-Type: application/json");
    struct curl_slist *longer;
    char line[LINE_SIZE];

    if (headers == NULL || token[0] == '\0')
        return headers;
    snprintf(line, sizeof(line), "Authorization: %s", token);
    longer = curl_slist_append(headers, line);
    if (longer == NULL)
        curl_slist_free_all(headers);
    return longer;
}

/* The environment may name a proxy, which is for the web; and, as OpenSSL's own programs
 * read it, a file of certificates to trust. */
static bool set_up(CURL *easy)
{
    const char *trusted = getenv("SSL_CERT_FILE");

    return curl_easy_setopt(easy, CURLOPT_NOSIGNAL, 1L) == CURLE_OK &&
           curl_easy_setopt(easy, CURLOPT_NOPROXY, "*") == CURLE_OK &&
           curl_easy_setopt(easy, CURLOPT_PROTOCOLS_STR, "http,https") == CURLE_OK &&
           curl_easy_setopt(easy, CURLOPT_HTTP_VERSION, (long)CURL_HTTP_VERSION_1_1) ==
               CURLE_OK &&
           (trusted == NULL ||
            curl_easy_setopt(easy, CURLOPT_CAINFO, trusted) == CURLE_OK);
}

bool etcd_wire_prepare(CURL *easy, const struct etcd_post *post,
                       struct curl_slist **headers)
{
    char url[LINE_SIZE];

    snprintf(url, sizeof(url), "%s%s", post->member, post->path);
    *headers = make_headers(post->token);
    return *headers != NULL && set_up(easy) &&
           curl_easy_setopt(easy, CURLOPT_URL, url) == CURLE_OK &&
           curl_easy_setopt(easy, CURLOPT_HTTPHEADER, *headers) == CURLE_OK &&
           curl_easy_setopt(easy, CURLOPT_POST, 1L) == CURLE_OK &&
           curl_easy_setopt(easy, CURLOPT_POSTFIELDSIZE, (long)strlen(post->body)) == CURLE_OK &&
           curl_easy_setopt(easy, CURLOPT_POSTFIELDS, post->body) == CURLE_OK;
}

/* Send, and take the answer out of the wire. */
static void transfer(struct wire *wire, const struct etcd_post *post,
                     struct etcd_answer *out)
{
    long sent = 0, connect_count = 0;
    CURLcode code = curl_easy_perform(wire->easy);

    (void)curl_easy_getinfo(wire->easy, CURLINFO_REQUEST_SIZE, &sent);
    (void)curl_easy_getinfo(wire->easy, CURLINFO_NUM_CONNECTS, &connect_count);
    *out = wire->answer;
    wire->answer = (struct etcd_answer){.bytes = NULL};
    out->code = code;
    out->was_sent = sent > 0;
    /* libcurl sends a request again whose kept connection turns out to be closed. */
    out->was_repeated = connect_count > 0 && strcmp(wire->member, post->member) == 0;
    snprintf(wire->member, sizeof(wire->member), "%s", post->member);
}

bool etcd_wire_post(struct etcd_wires *wires, const struct etcd_post *post, long limit_ms,
                    struct etcd_answer *out)
{
    struct wire *wire = take(wires);
    struct curl_slist *headers = NULL;
    bool is_ready;

    *out = (struct etcd_answer){.bytes = NULL};
    if (wire == NULL)
        return false;
    is_ready = etcd_wire_prepare(wire->easy, post, &headers) &&
               curl_easy_setopt(wire->easy, CURLOPT_TIMEOUT_MS, limit_ms > 0 ? limit_ms : 1) ==
                   CURLE_OK;
    if (is_ready)
        transfer(wire, post, out);
    /* The handle must not keep what is freed here. */
    (void)curl_easy_setopt(wire->easy, CURLOPT_HTTPHEADER, NULL);
    curl_slist_free_all(headers);
    if (is_ready && out->code == CURLE_OK)
        give(wires, wire);
    else
        hang_up(wire);
    return is_ready;
}
