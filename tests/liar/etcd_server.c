/* SPDX-License-Identifier: MIT */
/* etcd_server.c -- a proxy in front of a real etcd that can send wrong answers.
 *
 * The proxy answers no watch, so waiters look by themselves. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/socket.h>

#include "tests/liar/listener.h"
#include "tests/liar/script.h"
#include "tests/liar/servers.h"

enum { ROOM = 65536 };

static int real_port;
static struct listener listener;

/* One message of HTTP: a head and a body of a known length. */
struct message {
    char bytes[ROOM];
    size_t len; /* the received bytes, which may be more than one message */
};

/* The length of the message at the beginning of the bytes; 0: it is not complete. */
static size_t whole_message(struct message *m)
{
    char *end, *length;
    size_t head;

    m->bytes[m->len] = '\0';
    end = strstr(m->bytes, "\r\n\r\n");
    if (end == NULL)
        return 0;
    head = (size_t)(end - m->bytes) + 4;
    if (strncasecmp(m->bytes, "HTTP/1.1 ", 9) == 0 &&
        strcasestr(m->bytes, "Transfer-Encoding: chunked") != NULL) {
        end = strstr(m->bytes + head, "\r\n0\r\n\r\n");
        return end != NULL ? (size_t)(end - m->bytes) + 7 : 0;
    }
    length = strcasestr(m->bytes, "Content-Length:");
    head += length != NULL ? strtoul(length + strlen("Content-Length:"), NULL, 10) : 0;
    return m->len >= head ? head : 0;
}

/* Read a whole message after the rest of the last one; 0: the other end has closed. */
static size_t read_message(int fd, struct message *m)
{
    size_t len;

    while ((len = whole_message(m)) == 0) {
        ssize_t got = recv(fd, m->bytes + m->len, ROOM - 1 - m->len, 0);

        if (got <= 0)
            return 0;
        m->len += (size_t)got;
    }
    return len;
}

static void forget(struct message *m, size_t len)
{
    memmove(m->bytes, m->bytes + len, m->len - len);
    m->len -= len;
}

/* Forward a request, and its answer. Returns false if the connection is to be closed. */
static bool pass(int client, int real, struct message *asked, size_t len)
{
    static const char WATCH[] = "POST /v3/watch";
    /* Thread-local memory, which is not freed, since the end of the test waits for no thread. */
    static _Thread_local struct message answered;
    char text[SCRIPT_ASKED_SIZE];
    const char *body = strstr(asked->bytes, "\r\n\r\n");
    size_t answer_len = 0;
    bool goes_on = true;

    snprintf(text, sizeof(text), "%.*s %.400s", (int)strcspn(asked->bytes, "\r"), asked->bytes,
             body != NULL ? body + 4 : "");
    if (strncmp(asked->bytes, WATCH, strlen(WATCH)) != 0) {
        answered.len = 0;
        goes_on = send(real, asked->bytes, len, MSG_NOSIGNAL) == (ssize_t)len;
        if (goes_on)
            answer_len = read_message(real, &answered);
        goes_on = answer_len > 0 && script_answer(client, text, answered.bytes, answer_len);
    }
    return goes_on;
}

static void serve(int client)
{
    static _Thread_local struct message asked;
    int real = listener_connect(real_port);
    bool goes_on = real >= 0;

    while (goes_on) {
        size_t len = read_message(client, &asked);

        goes_on = len > 0 && pass(client, real, &asked, len);
        if (goes_on)
            forget(&asked, len);
    }
    script_part(client);
    if (real >= 0)
        listener_hang_up(real);
}

const char *etcd_server_start(const char *etcd_url)
{
    static char url[64];
    int port;

    real_port = atoi(strrchr(etcd_url, ':') + 1);
    port = listener_start(&listener, serve);
    snprintf(url, sizeof(url), "http://127.0.0.1:%d", port);
    return port > 0 ? url : NULL;
}

void etcd_server_stop(void)
{
    listener_stop(&listener);
}
