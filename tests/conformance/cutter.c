/* SPDX-License-Identifier: MIT */
/* cutter.c -- a proxy between a lock and its server, whose connections a law can
 * cut. */
#include "tests/conformance/cutter.h"

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

enum { WIRES_MAX = 16, CHUNK_SIZE = 16384, LOOK_EVERY_MS = 5 };

static struct {
    bool runs;
    int listen_fd;
    int target_port;
    pthread_t thread;
    atomic_bool stopping;
    atomic_int mode;
    atomic_int looks; /* how many times the thread has read `mode` */
    atomic_int cuts_asked;
    atomic_int cuts_done;
    const char *_Atomic replaced; /* NULL: the answers pass as they are */
    const char *replacement;
    int fds[WIRES_MAX][2]; /* the client's end and the server's; -1: none */
} cutter;

static struct sockaddr_in loopback(int port)
{
    struct sockaddr_in address = {.sin_family = AF_INET,
                                  .sin_port = htons((uint16_t)port),
                                  .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};

    return address;
}

static void hang_up(int *wire)
{
    for (int end = 0; end < 2; end++) {
        if (wire[end] >= 0)
            close(wire[end]);
        wire[end] = -1;
    }
}

static void take_in(void)
{
    struct sockaddr_in target = loopback(cutter.target_port);
    int client = accept(cutter.listen_fd, NULL, NULL);
    bool is_closed = atomic_load(&cutter.mode) == CUTTER_CLOSED;

    for (int i = 0; client >= 0 && !is_closed && i < WIRES_MAX; i++) {
        int *wire = cutter.fds[i];

        if (wire[0] >= 0)
            continue;
        wire[0] = client;
        wire[1] = socket(AF_INET, SOCK_STREAM, 0);
        if (connect(wire[1], (struct sockaddr *)&target, sizeof(target)) != 0)
            hang_up(wire);
        return;
    }
    if (client >= 0)
        close(client);
}

/* The law reads short answers, so no answer is cut in two. */
static void replace(char *bytes, size_t len)
{
    const char *what = atomic_load(&cutter.replaced);
    char *at = bytes, *end = bytes + len;

    while (what != NULL && (at = memmem(at, (size_t)(end - at), what, strlen(what))) != NULL) {
        memcpy(at, cutter.replacement, strlen(what));
        at += strlen(what);
    }
}

/* Read bytes from one end and send them to the other. */
static void pass(int *wire, int from)
{
    char chunk[CHUNK_SIZE];
    ssize_t got = read(wire[from], chunk, sizeof(chunk));
    ssize_t sent = 0;

    if (got > 0 && from == 1 && atomic_load(&cutter.mode) == CUTTER_DEAF)
        return;
    if (got > 0 && from == 1)
        replace(chunk, (size_t)got);
    while (got > 0 && sent < got) {
        ssize_t n =
            send(wire[1 - from], chunk + sent, (size_t)(got - sent), MSG_NOSIGNAL);

        if (n <= 0)
            got = -1;
        sent += n;
    }
    if (got <= 0)
        hang_up(wire);
}

static void *run(void *arg)
{
    (void)arg;
    while (!atomic_load(&cutter.stopping)) {
        struct pollfd polled[1 + 2 * WIRES_MAX] = {
            {.fd = cutter.listen_fd, .events = POLLIN}};
        int asked = atomic_load(&cutter.cuts_asked);

        atomic_fetch_add(&cutter.looks, 1);
        if (atomic_load(&cutter.cuts_done) != asked) {
            for (int i = 0; i < WIRES_MAX; i++)
                hang_up(cutter.fds[i]);
            /* The mode changes before a client can connect again: if the cutter dropped the first
             * bytes of a new connection, the client would wait for the whole timeout. */
            if (atomic_load(&cutter.mode) != CUTTER_CLOSED)
                atomic_store(&cutter.mode, CUTTER_OPEN);
            atomic_store(&cutter.cuts_done, asked);
        }
        for (int i = 0; i < 2 * WIRES_MAX; i++) {
            polled[1 + i].fd = cutter.fds[i / 2][i % 2];
            polled[1 + i].events = POLLIN;
        }
        if (atomic_load(&cutter.mode) == CUTTER_SILENT) {
            rig_pause_ms(LOOK_EVERY_MS);
            continue;
        }
        poll(polled, 1 + 2 * WIRES_MAX, LOOK_EVERY_MS);
        for (int i = 0; i < 2 * WIRES_MAX; i++)
            if (cutter.fds[i / 2][i % 2] >= 0 && polled[1 + i].revents != 0)
                pass(cutter.fds[i / 2], i % 2);
        if (polled[0].revents != 0)
            take_in();
    }
    return NULL;
}

const char *cutter_start(const char *target)
{
    static char url[32];
    struct sockaddr_in address = loopback(0);
    socklen_t size = sizeof(address);

    assert_false(cutter.runs);
    for (int i = 0; i < WIRES_MAX; i++)
        cutter.fds[i][0] = cutter.fds[i][1] = -1;
    cutter.target_port = atoi(strrchr(target, ':') + 1);
    cutter.listen_fd = socket(AF_INET, SOCK_STREAM, 0);
    assert_int_equal(0, bind(cutter.listen_fd, (struct sockaddr *)&address, size));
    assert_int_equal(0, listen(cutter.listen_fd, WIRES_MAX));
    assert_int_equal(0,
                     getsockname(cutter.listen_fd, (struct sockaddr *)&address, &size));
    snprintf(url, sizeof(url), "127.0.0.1:%d", ntohs(address.sin_port));
    atomic_store(&cutter.stopping, false);
    atomic_store(&cutter.mode, CUTTER_OPEN);
    atomic_store(&cutter.replaced, NULL);
    assert_int_equal(0, pthread_create(&cutter.thread, NULL, run, NULL));
    cutter.runs = true;
    return url;
}

/* After the return, all bytes that were sent before have passed, and the cutter treats later bytes
 * by the new mode. */
void cutter_set(enum cutter_mode mode)
{
    int looks = atomic_load(&cutter.looks);

    atomic_store(&cutter.mode, mode);
    if (cutter.runs)
        assert_comes(atomic_load(&cutter.looks) - looks >= 2);
}

void cutter_cut(void)
{
    int number = atomic_fetch_add(&cutter.cuts_asked, 1) + 1;

    assert_comes(atomic_load(&cutter.cuts_done) == number);
}

void cutter_replace(const char *what, const char *with)
{
    atomic_store(&cutter.replaced, NULL);
    /* The thread has then done with the former texts. */
    cutter_set((enum cutter_mode)atomic_load(&cutter.mode));
    cutter.replacement = with;
    atomic_store(&cutter.replaced, what);
}

void cutter_refuse(void)
{
    cutter_set(CUTTER_CLOSED);
    cutter_cut();
}

const char *cutter_start_before(const char *url)
{
    static char changed[256];
    const char *address;
    const char *port;
    size_t host_len;

    /* postgresql://user:password@HOST:PORT/database */
    address = strchr(url, '@');
    address = address != NULL ? address + 1 : strstr(url, "//") + 2;
    host_len = strcspn(address, ":/");
    port = address + host_len;
    assert_true(*port == ':');
    snprintf(changed, sizeof(changed), "%.*s%s%s", (int)(address - url), url,
             cutter_start(port), port + 1 + strspn(port + 1, "0123456789"));
    return changed;
}

void cutter_open(void)
{
    cutter_set(CUTTER_OPEN);
}

void cutter_stop(void)
{
    if (!cutter.runs)
        return;
    atomic_store(&cutter.stopping, true);
    pthread_join(cutter.thread, NULL);
    for (int i = 0; i < WIRES_MAX; i++)
        hang_up(cutter.fds[i]);
    close(cutter.listen_fd);
    cutter.runs = false;
}
