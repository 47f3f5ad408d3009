/* SPDX-License-Identifier: MIT */
/* buyers.c -- threads that order, and keep every answer. */
#include "tests/proof/buyers.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum {
    REQUESTS_MAX = 200000,
    /* One in this many requests of a buyer is sent without waiting for the answer. */
    HANGS_UP_EVERY = 16,
    PAUSE_MS = 20,       /* after a connection that was refused */
};

static struct buyer {
    pthread_t thread;
    int index;
    bool runs;
} buyers[BUYERS_COUNT];

static struct buyers_request *requests; /* an array of REQUESTS_MAX */
static atomic_size_t request_count;
static int64_t vouchers[2];
static atomic_int ports[BUYERS_SERVICES];
static atomic_int served, refused;
static atomic_bool is_stopped;
static pthread_mutex_t odd_mutex = PTHREAD_MUTEX_INITIALIZER;
static char odd[512];

static void pause_ms(long ms)
{
    struct timespec t = {.tv_sec = ms / 1000, .tv_nsec = ms % 1000 * 1000000};

    (void)nanosleep(&t, NULL);
}

static void note_odd(const struct buyers_request *request, const struct rig_answer *answer)
{
    (void)pthread_mutex_lock(&odd_mutex);
    if (odd[0] == '\0')
        (void)snprintf(odd, sizeof(odd), "%s was told %d %s: %.300s", request->id,
                       answer->status, answer->outcome, answer->body);
    (void)pthread_mutex_unlock(&odd_mutex);
}

static bool is_one_of(const char *outcome, const char *const *list)
{
    while (*list != NULL && strcmp(outcome, *list) != 0)
        list++;
    return *list != NULL;
}

/* Keep the answer. Returns true if it is definite. An answer to a repeated request does not show
 * the fate of the first one, unless it has the order. */
static bool keep_answer(struct buyers_request *request, const struct rig_answer *answer,
                        bool is_first)
{
    static const char *const FINAL[] = {"sold-out", "duplicate", NULL};
    static const char *const PASSING[] = {"unavailable", "database-busy", "lock-busy",
                                          "stale", "queue-full", NULL};
    bool is_queued = strcmp(answer->outcome, "queued") == 0 && answer->status == 202;
    const char *number = strstr(answer->body, "\"id\":\"");
    long long id = 0;
    bool is_busy = strcmp(answer->outcome, "lock-busy") == 0;
    bool is_passing = is_one_of(answer->outcome, PASSING) &&
                      answer->status == (is_busy ? 409 : 503) &&
                      strstr(answer->head, "Retry-After: ") != NULL;

    if ((strcmp(answer->outcome, "accepted") == 0 || is_queued) &&
        number != NULL && sscanf(number, "\"id\":\"%lld\"", &id) == 1) {
        request->order_id = id;
        request->told = is_queued ? TOLD_QUEUED : TOLD_ACCEPTED;
        atomic_fetch_add(&served, 1);
    } else if (is_passing || is_one_of(answer->outcome, FINAL)) {
        atomic_fetch_add(&refused, is_passing);
        if (is_first)
            request->told = TOLD_REFUSED;
        return is_first || !is_passing;
    } else if (strcmp(answer->outcome, "unknown") == 0 && answer->status == 503) {
        return false;
    } else {
        note_odd(request, answer);
    }
    return true;
}

/* Send the request and close the connection. */
static void send_only(const struct buyers_request *request, int port)
{
    char bytes[1024], token[TOKEN_LEN + 1];
    int fd = rig_connect(port);
    int n;

    rig_token(request->user, token);
    n = snprintf(bytes, sizeof(bytes),
                 "POST /api/v1/vouchers/%lld/orders HTTP/1.1\r\nHost: localhost\r\n"
                 "authorization: %s\r\nIdempotency-Key: %s\r\n\r\n",
                 (long long)request->voucher, token, request->id);
    if (fd < 0)
        return;
    (void)rig_send(fd, bytes, (size_t)n);
    (void)close(fd);
}

static void order(struct buyer *b, int64_t n, struct buyers_request *request)
{
    static _Thread_local struct rig_answer answer;
    bool resends = b->index % 4 < 2;
    int service = (int)((b->index + n) % BUYERS_SERVICES);

    if (n % HANGS_UP_EVERY == b->index % HANGS_UP_EVERY) {
        send_only(request, atomic_load(&ports[service]));
        return;
    }
    for (bool is_first = true, is_over = false; !is_over; is_first = false) {
        int port = atomic_load(&ports[service++ % BUYERS_SERVICES]);

        if (rig_order_named(port, request->voucher, request->user, request->id, &answer))
            is_over = keep_answer(request, &answer, is_first);
        else
            pause_ms(PAUSE_MS);
        is_over = is_over || !resends || atomic_load(&is_stopped);
    }
}

static void *buy(void *arg)
{
    struct buyer *b = arg;

    for (int64_t n = 0; !atomic_load(&is_stopped); n++) {
        size_t i = atomic_fetch_add(&request_count, 1);

        if (i >= REQUESTS_MAX)
            break;
        requests[i].voucher = vouchers[b->index % 6 == 5];
        requests[i].user = 1 + n * BUYERS_COUNT + b->index / 2;
        (void)snprintf(requests[i].id, sizeof(requests[i].id), "proof:%lld:%d:%lld",
                       (long long)requests[i].voucher, b->index, (long long)n);
        order(b, n, &requests[i]);
    }
    return NULL;
}

void buyers_start(const int64_t two_vouchers[2], const int at[BUYERS_SERVICES])
{
    free(requests);
    requests = calloc(REQUESTS_MAX, sizeof(*requests));
    assert_non_null(requests);
    atomic_store(&request_count, 0);
    atomic_store(&served, 0);
    atomic_store(&refused, 0);
    atomic_store(&is_stopped, false);
    odd[0] = '\0';
    memcpy(vouchers, two_vouchers, sizeof(vouchers));
    for (int i = 0; i < BUYERS_SERVICES; i++)
        atomic_store(&ports[i], at[i]);
    for (int i = 0; i < BUYERS_COUNT; i++) {
        buyers[i].index = i;
        assert_int_equal(pthread_create(&buyers[i].thread, NULL, buy, &buyers[i]), 0);
        buyers[i].runs = true;
    }
}

void buyers_move(int service, int port)
{
    atomic_store(&ports[service], port);
}

struct goal {
    atomic_int *count;
    int value;
};

static bool is_reached(void *arg)
{
    const struct goal *goal = arg;

    return atomic_load(goal->count) >= goal->value;
}

void buyers_await_served(int more, const char *when)
{
    struct goal goal = {&served, atomic_load(&served) + more};

    if (!rig_until(is_reached, &goal, RIG_PATIENCE_MS))
        fail_msg("no %d orders are accepted or queued %s", more, when);
}

void buyers_await_refused(int more, const char *when)
{
    struct goal goal = {&refused, atomic_load(&refused) + more};

    if (!rig_until(is_reached, &goal, RIG_PATIENCE_MS))
        fail_msg("no %d requests are told to come again %s", more, when);
}

void buyers_stop(void)
{
    atomic_store(&is_stopped, true);
    for (int i = 0; i < BUYERS_COUNT; i++) {
        if (buyers[i].runs)
            (void)pthread_join(buyers[i].thread, NULL);
        buyers[i].runs = false;
    }
}

const struct buyers_request *buyers_request_at(size_t i)
{
    size_t count = atomic_load(&request_count);

    if (i >= count || i >= REQUESTS_MAX)
        return NULL;
    return &requests[i];
}

const char *buyers_odd(void)
{
    return odd;
}
