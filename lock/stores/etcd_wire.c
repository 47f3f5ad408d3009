/* SPDX-License-Identifier: MIT */
/* etcd_wire.c -- POSTs by HTTP or HTTPS on kept connections, by libcurl.
 *
 * An idle connection is a handle of libcurl, which keeps its socket.  The connection
 * that was used last is taken first, so that few threads use few connections. */
#include "lock/stores/etcd_wire.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/os/descriptor.h"
#include "base/os/mutex.h"
#include "base/os/once.h"

enum {
    IDLE_MAX = 512,        /* connections kept; more are closed after their request */
    ANSWER_MAX = 16 << 20, /* bytes: a queue of 100,000 */
    URL_SIZE = 600,
    LINE_SIZE = ETCD_TOKEN_SIZE + 32,
};

struct wire {
    CURL *easy;
    char member[ETCD_MEMBER_SIZE]; /* the member of the open connection; "": none */
    bool is_asking; /* a request has no answer, or was given up */
    struct etcd_answer answer;
};

struct etcd_wires {
    struct dlock_mutex mutex; /* protects what follows */
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

/* The memory for so many bytes and a NUL, which doubles, so that many pieces cost few copies. */
static size_t answer_room(size_t len)
{
    size_t room = 256;

    while (room <= len)
        room *= 2;
    return room;
}

static size_t on_answer(char *bytes, size_t size, size_t count, void *arg)
{
    struct etcd_answer *answer = arg;
    size_t len = size * count, whole = answer->len + len;

    if (len > ANSWER_MAX - answer->len)
        return 0;
    if (answer->bytes == NULL || answer_room(whole) > answer_room(answer->len)) {
        char *grown = realloc(answer->bytes, answer_room(whole));

        if (grown == NULL)
            return 0;
        answer->bytes = grown;
    }
    memcpy(answer->bytes + answer->len, bytes, len);
    answer->len = whole;
    answer->bytes[whole] = '\0';
    return len;
}

/* Called for each close of a connection, also inside libcurl's calls. */
static int on_close(void *arg, curl_socket_t fd)
{
    const struct wire *wire = arg;

    if (wire->is_asking)
        dlock_descriptor_abort(fd);
    return close(fd);
}

static struct wire *make_wire(void)
{
    struct wire *wire = calloc(1, sizeof(*wire));

    if (wire == NULL)
        return NULL;
    wire->easy = curl_easy_init();
    if (wire->easy != NULL &&
        curl_easy_setopt(wire->easy, CURLOPT_WRITEFUNCTION, on_answer) == CURLE_OK &&
        curl_easy_setopt(wire->easy, CURLOPT_WRITEDATA, &wire->answer) == CURLE_OK &&
        curl_easy_setopt(wire->easy, CURLOPT_CLOSESOCKETFUNCTION, on_close) == CURLE_OK &&
        curl_easy_setopt(wire->easy, CURLOPT_CLOSESOCKETDATA, wire) == CURLE_OK)
        return wire;
    hang_up(wire);
    return NULL;
}

/* Is an idle connection still open, without data to read?  If there is data, the server
 * has closed it or has sent an answer without a request, which would be taken for the
 * answer to the next request. */
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

/* Append a copy of the line to the list.  False: no memory. */
static bool append(struct curl_slist **list, const char *line)
{
    struct curl_slist *longer = curl_slist_append(*list, line);

    *list = longer != NULL ? longer : *list;
    return longer != NULL;
}

void etcd_lists_free(struct etcd_lists *lists)
{
    curl_slist_free_all(lists->headers);
    curl_slist_free_all(lists->connect_to);
    *lists = (struct etcd_lists){.headers = NULL};
}

static bool make_headers(const char *token, struct etcd_lists *lists)
{
    char line[LINE_SIZE];

    snprintf(line, sizeof(line), "Authorization: %s", token);
    return append(&lists->headers, "Content-Type: application/json") &&
           (token[0] == '\0' || append(&lists->headers, line));
}

/* Set the URL with the name that the certificate must have, and let libcurl connect to
 * the member's address. */
static bool set_place(CURL *easy, const struct etcd_post *post, struct etcd_lists *lists)
{
    const char *name = post->tls->server_name;
    const char *host = strstr(post->member, "://") + strlen("://");
    char url[URL_SIZE], where[URL_SIZE];

    snprintf(url, sizeof(url), "%s%s", post->member, post->path);
    if (name[0] != '\0') {
        snprintf(url, sizeof(url), "https://%s%s%s", name, strrchr(host, ':'), post->path);
        snprintf(where, sizeof(where), "::%s", host);
        if (!append(&lists->connect_to, where))
            return false;
    }
    return curl_easy_setopt(easy, CURLOPT_CONNECT_TO, lists->connect_to) == CURLE_OK &&
           curl_easy_setopt(easy, CURLOPT_URL, url) == CURLE_OK;
}

/* Set the certificates.  The authority of the URL is trusted instead of the system's
 * authorities.  A key with a passphrase fails, because a library must not ask the
 * terminal for it.  As in OpenSSL's own programs, an environment variable may name a
 * file of trusted certificates. */
static bool set_tls(CURL *easy, const struct etcd_tls *tls)
{
    const char *trusted = tls->ca_file[0] != '\0' ? tls->ca_file : getenv("SSL_CERT_FILE");

    return curl_easy_setopt(easy, CURLOPT_SSLVERSION, (long)CURL_SSLVERSION_TLSv1_2) ==
               CURLE_OK &&
           (trusted == NULL ||
            (curl_easy_setopt(easy, CURLOPT_CAINFO, trusted) == CURLE_OK &&
             curl_easy_setopt(easy, CURLOPT_CAPATH, NULL) == CURLE_OK)) &&
           (tls->cert_file[0] == '\0' ||
            (curl_easy_setopt(easy, CURLOPT_SSLCERT, tls->cert_file) == CURLE_OK &&
             curl_easy_setopt(easy, CURLOPT_SSLKEY, tls->key_file) == CURLE_OK &&
             curl_easy_setopt(easy, CURLOPT_KEYPASSWD, "") == CURLE_OK));
}

/* Set the common options.  Proxies that the environment names are ignored, because they
 * are for the web.  A request that has to end does not wait for the thread in which libcurl
 * resolves a name: the thread ends by itself, when the resolver answers. */
static bool set_up(CURL *easy)
{
    return curl_easy_setopt(easy, CURLOPT_NOSIGNAL, 1L) == CURLE_OK &&
           curl_easy_setopt(easy, CURLOPT_QUICK_EXIT, 1L) == CURLE_OK &&
           curl_easy_setopt(easy, CURLOPT_NOPROXY, "*") == CURLE_OK &&
           curl_easy_setopt(easy, CURLOPT_PROTOCOLS_STR, "http,https") == CURLE_OK &&
           curl_easy_setopt(easy, CURLOPT_HTTP_VERSION, (long)CURL_HTTP_VERSION_1_1) ==
               CURLE_OK;
}

bool etcd_wire_prepare(CURL *easy, const struct etcd_post *post, struct etcd_lists *lists)
{
    return make_headers(post->token, lists) && set_up(easy) && set_place(easy, post, lists) &&
           set_tls(easy, post->tls) &&
           curl_easy_setopt(easy, CURLOPT_HTTPHEADER, lists->headers) == CURLE_OK &&
           curl_easy_setopt(easy, CURLOPT_POST, 1L) == CURLE_OK &&
           curl_easy_setopt(easy, CURLOPT_POSTFIELDSIZE, (long)strlen(post->body)) == CURLE_OK &&
           curl_easy_setopt(easy, CURLOPT_POSTFIELDS, post->body) == CURLE_OK;
}

/* Remove the blanks at the end of some of libcurl's messages. */
static void trim(char *text)
{
    size_t len = strlen(text);

    while (len > 0 && strchr(" \r\n", text[len - 1]) != NULL)
        text[--len] = '\0';
}

/* Send the POST, and move the answer out of the connection. */
static void transfer(struct wire *wire, const struct etcd_post *post,
                     struct etcd_answer *out)
{
    long sent = 0, connect_count = 0;
    CURLcode code;

    wire->answer.words[0] = '\0';
    (void)curl_easy_setopt(wire->easy, CURLOPT_ERRORBUFFER, wire->answer.words);
    wire->is_asking = true;
    code = curl_easy_perform(wire->easy);
    wire->is_asking = code != CURLE_OK;
    trim(wire->answer.words);

    (void)curl_easy_getinfo(wire->easy, CURLINFO_REQUEST_SIZE, &sent);
    (void)curl_easy_getinfo(wire->easy, CURLINFO_NUM_CONNECTS, &connect_count);
    (void)curl_easy_getinfo(wire->easy, CURLINFO_RESPONSE_CODE, &wire->answer.status);
    *out = wire->answer;
    wire->answer = (struct etcd_answer){.bytes = NULL};
    out->code = code;
    out->was_sent = sent > 0;
    /* If a kept connection turns out to be closed, libcurl sends the request again. */
    out->was_repeated = connect_count > 0 && strcmp(wire->member, post->member) == 0;
    snprintf(wire->member, sizeof(wire->member), "%s", post->member);
}

bool etcd_wire_post(struct etcd_wires *wires, const struct etcd_post *post, long limit_ms,
                    struct etcd_answer *out)
{
    struct wire *wire = take(wires);
    struct etcd_lists lists = {.headers = NULL};
    bool is_ready;

    *out = (struct etcd_answer){.bytes = NULL};
    if (wire == NULL)
        return false;
    is_ready = etcd_wire_prepare(wire->easy, post, &lists) &&
               curl_easy_setopt(wire->easy, CURLOPT_TIMEOUT_MS, limit_ms > 0 ? limit_ms : 1) ==
                   CURLE_OK;
    if (is_ready)
        transfer(wire, post, out);
    /* The handle must not keep pointers to memory that is freed here. */
    (void)curl_easy_setopt(wire->easy, CURLOPT_HTTPHEADER, NULL);
    (void)curl_easy_setopt(wire->easy, CURLOPT_CONNECT_TO, NULL);
    etcd_lists_free(&lists);
    if (is_ready && out->code == CURLE_OK)
        give(wires, wire);
    else
        hang_up(wire);
    return is_ready;
}
