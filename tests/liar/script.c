/* SPDX-License-Identifier: MIT */
/* script.c -- the choice of the answer that a lying server replaces. */
#include "tests/liar/script.h"

#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

enum { CLIENTS_MAX = 64 };

static struct {
    pthread_mutex_t mutex; /* guards the fields below */
    int answer_count;
    int subscription_count; /* answers to SUBSCRIBE and UNSUBSCRIBE */
    int step;
    const struct lie *lie;
    bool one_by_one;
    char asked[SCRIPT_ASKED_SIZE]; /* the request that got the wrong answer */
    char last[SCRIPT_ASKED_SIZE];  /* the last request that got an answer */
    int clients[CLIENTS_MAX];
    size_t client_count;
} script = {.mutex = PTHREAD_MUTEX_INITIALIZER};

void script_lie(int step, const struct lie *lie)
{
    pthread_mutex_lock(&script.mutex);
    script.answer_count = script.subscription_count = 0;
    script.step = step;
    script.lie = lie;
    script.asked[0] = '\0';
    pthread_mutex_unlock(&script.mutex);
}

void script_be_honest(void)
{
    script_lie(0, NULL);
}

void script_send_bytes(bool one_by_one)
{
    pthread_mutex_lock(&script.mutex);
    script.one_by_one = one_by_one;
    pthread_mutex_unlock(&script.mutex);
}

int script_answer_count(void)
{
    int count;

    pthread_mutex_lock(&script.mutex);
    count = script.answer_count - script.subscription_count;
    pthread_mutex_unlock(&script.mutex);
    return count;
}

bool script_has_lied(char asked[SCRIPT_ASKED_SIZE])
{
    pthread_mutex_lock(&script.mutex);
    memcpy(asked, script.asked, sizeof(script.asked));
    pthread_mutex_unlock(&script.mutex);
    return asked[0] != '\0';
}

void script_last_asked(char asked[SCRIPT_ASKED_SIZE])
{
    pthread_mutex_lock(&script.mutex);
    memcpy(asked, script.last, sizeof(script.last));
    pthread_mutex_unlock(&script.mutex);
}

void script_meet(int fd)
{
    pthread_mutex_lock(&script.mutex);
    if (script.client_count < CLIENTS_MAX)
        script.clients[script.client_count++] = fd;
    pthread_mutex_unlock(&script.mutex);
}

void script_part(int fd)
{
    pthread_mutex_lock(&script.mutex);
    for (size_t i = 0; i < script.client_count; i++)
        if (script.clients[i] == fd)
            script.clients[i--] = script.clients[--script.client_count];
    close(fd);
    pthread_mutex_unlock(&script.mutex);
}

void script_hang_up(void)
{
    pthread_mutex_lock(&script.mutex);
    for (size_t i = 0; i < script.client_count; i++)
        shutdown(script.clients[i], SHUT_RDWR);
    pthread_mutex_unlock(&script.mutex);
}

static bool send_all(int fd, const char *bytes, size_t len, bool one_by_one)
{
    for (size_t i = 0; i < len;) {
        ssize_t sent = send(fd, bytes + i, one_by_one ? 1 : len - i, MSG_NOSIGNAL);

        if (sent <= 0)
            return false;
        i += (size_t)sent;
    }
    return true;
}

void script_send_unasked(const struct lie *lie)
{
    pthread_mutex_lock(&script.mutex);
    for (size_t i = 0; i < script.client_count; i++)
        (void)send_all(script.clients[i], lie->bytes, lie->len, false);
    pthread_mutex_unlock(&script.mutex);
}

/* Count an answer.  The mutex is locked. */
static const struct lie *next_lie(const char *asked)
{
    snprintf(script.last, sizeof(script.last), "%s", asked);
    script.subscription_count += strcasestr(asked, "SUBSCRIBE") != NULL;
    if (++script.answer_count != script.step)
        return NULL;
    snprintf(script.asked, sizeof(script.asked), "%s", asked);
    return script.lie;
}

const struct lie *script_next(const char *asked)
{
    const struct lie *lie;

    pthread_mutex_lock(&script.mutex);
    lie = next_lie(asked);
    pthread_mutex_unlock(&script.mutex);
    return lie;
}

bool script_answer(int fd, const char *asked, const char *honest, size_t len)
{
    const struct lie *lie;
    bool one_by_one;

    pthread_mutex_lock(&script.mutex);
    one_by_one = script.one_by_one;
    lie = next_lie(asked);
    pthread_mutex_unlock(&script.mutex);
    if (lie == NULL)
        return send_all(fd, honest, len, one_by_one);
    return send_all(fd, lie->bytes, lie->len, one_by_one) && !lie->then_close;
}
