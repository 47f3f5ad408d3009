/* SPDX-License-Identifier: MIT */
/* postgres_server.c -- a proxy in front of a real PostgreSQL that can send wrong answers.
 *
 * An answer is everything that the real server sends until it is the client's turn again: up to
 * ReadyForQuery, or up to the request for a password. */
#include <arpa/inet.h>
#include <poll.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "tests/liar/listener.h"
#include "tests/liar/script.h"
#include "tests/liar/servers.h"

enum {
    ROOM = 65536,
    STATEMENTS_MAX = 16,
    NAME_SIZE = 64,
    HEAD = 5,           /* a letter and the length, which counts itself */
    AUTH_SASL_LAST = 11, /* above it the client sends nothing more */
};

static int real_port;
static struct listener listener;

struct stream {
    char bytes[ROOM];
    size_t len;
};

struct talk {
    int client, real;
    struct stream asked, answered;
    bool has_begun; /* the first message, which has no letter, was forwarded */
    struct {
        char name[NAME_SIZE];
        char text[SCRIPT_ASKED_SIZE];
    } prepared[STATEMENTS_MAX];
    char current[SCRIPT_ASKED_SIZE];
};

static uint32_t read_length(const char *at)
{
    uint32_t length;

    memcpy(&length, at, sizeof(length));
    return ntohl(length);
}

/* The length of the message at `begin`, with its letter if it has one; 0: it is not complete. */
static size_t whole_message(const struct stream *s, size_t begin, size_t letter)
{
    size_t length;

    if (s->len < begin + letter + 4)
        return 0;
    length = letter + read_length(s->bytes + begin + letter);
    return s->len >= begin + length ? length : 0;
}

static void forget(struct stream *s, size_t len)
{
    memmove(s->bytes, s->bytes + len, s->len - len);
    s->len -= len;
}

static bool fill(int fd, struct stream *s)
{
    ssize_t got = recv(fd, s->bytes + s->len, sizeof(s->bytes) - s->len, 0);

    s->len += got > 0 ? (size_t)got : 0;
    return got > 0;
}

/* The room for the text of the statement `name`; there is room for all statements of a lock. */
static char *prepared_as(struct talk *talk, const char *name)
{
    size_t i = 0;

    while (i < STATEMENTS_MAX - 1 && talk->prepared[i].name[0] != '\0' &&
           strcmp(talk->prepared[i].name, name) != 0)
        i++;
    snprintf(talk->prepared[i].name, NAME_SIZE, "%s", name);
    return talk->prepared[i].text;
}

/* Note the command in the client's message. */
static void note(struct talk *talk, const char *message)
{
    const char *first = message + HEAD;
    const char *second = first + strlen(first) + 1;

    if (message[0] == 'P' && first[0] != '\0') { /* Parse: name, text */
        snprintf(prepared_as(talk, first), SCRIPT_ASKED_SIZE, "%.500s", second);
        snprintf(talk->current, SCRIPT_ASKED_SIZE, "prepare %.400s",
                 second);
    } else if (message[0] == 'B' && second[0] != '\0') { /* Bind: portal, name */
        memcpy(talk->current, prepared_as(talk, second), SCRIPT_ASKED_SIZE);
    } else if (message[0] == 'Q') {
        snprintf(talk->current, SCRIPT_ASKED_SIZE, "%.500s", first);
    } else if (message[0] == 'p') {
        snprintf(talk->current, SCRIPT_ASKED_SIZE, "password");
    }
}

static bool pass_on(struct talk *talk)
{
    struct stream *s = &talk->asked;
    size_t len;

    while ((len = whole_message(s, 0, talk->has_begun ? 1 : 0)) > 0) {
        if (talk->has_begun)
            note(talk, s->bytes);
        talk->has_begun = true;
        if (send(talk->real, s->bytes, len, MSG_NOSIGNAL) != (ssize_t)len)
            return false;
        forget(s, len);
    }
    return true;
}

/* Is it the client's turn after this message? */
static bool ends_answer(const char *message)
{
    uint32_t kind;

    if (message[0] != 'R')
        return message[0] == 'Z';
    kind = read_length(message + HEAD);
    return kind != 0 && kind <= AUTH_SASL_LAST;
}

static bool answer(struct talk *talk)
{
    struct stream *s = &talk->answered;
    size_t end = 0, len;

    while ((len = whole_message(s, end, 1)) > 0) {
        bool is_last = ends_answer(s->bytes + end);

        end += len;
        if (!is_last)
            continue;
        if (!script_answer(talk->client, talk->current, s->bytes, end))
            return false;
        forget(s, end);
        end = 0;
    }
    return true;
}

static bool relay(struct talk *talk)
{
    struct pollfd ends[] = {{.fd = talk->client, .events = POLLIN},
                            {.fd = talk->real, .events = POLLIN}};

    if (poll(ends, 2, -1) < 0)
        return false;
    if (ends[0].revents != 0 && !(fill(talk->client, &talk->asked) && pass_on(talk)))
        return false;
    return ends[1].revents == 0 || (fill(talk->real, &talk->answered) && answer(talk));
}

static void serve(int client)
{
    struct talk *talk = calloc(1, sizeof(*talk));

    if (talk != NULL) {
        talk->client = client;
        talk->real = listener_connect(real_port);
        snprintf(talk->current, SCRIPT_ASKED_SIZE, "startup");
        while (talk->real >= 0 && relay(talk))
            ;
        if (talk->real >= 0)
            close(talk->real);
    }
    free(talk);
    script_part(client);
}

/* postgresql://user:password@HOST:PORT/database */
const char *postgres_server_start(const char *given)
{
    static char url[256];
    const char *at = strchr(given, '@');
    const char *colon = at != NULL ? strchr(at, ':') : NULL;
    char *rest = NULL;
    int port;

    if (colon == NULL)
        return NULL;
    real_port = (int)strtol(colon + 1, &rest, 10);
    port = listener_start(&listener, serve);
    snprintf(url, sizeof(url), "%.*s@127.0.0.1:%d%s?sslmode=disable", (int)(at - given),
             given, port, rest);
    return port > 0 ? url : NULL;
}

void postgres_server_stop(void)
{
    listener_stop(&listener);
}
