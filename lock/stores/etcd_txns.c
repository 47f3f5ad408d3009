/* SPDX-License-Identifier: MIT */
/* etcd_txns.c -- puts the transactions of many threads into few requests.
 *
 * No extra thread sends them.  A thread that finds fewer than SENDERS_MAX sending
 * threads sends the collected transactions, its own and those of others.  Afterwards it
 * wakes the first waiting thread to do the same. */
#include "lock/stores/etcd_txns.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <utlist.h>

#include "base/os/clock.h"
#include "base/os/condition.h"
#include "lock/metrics.h"

enum {
    SENDERS_MAX = 2, /* measured with 8 and with 64 threads: faster than 1, 3, 4 and
                      * 8 */
    PARTS_MAX = 24, /* etcd accepts 128 operations in one transaction */
    PART_EXTRA = 32,
};

/* The transaction of a thread that waits for the answer. */
struct part {
    const char *name, *text;
    int64_t until_ns;
    bool is_sent, is_answered;
    bool has_to_go_alone; /* etcd refused the whole request because of one part */
    dlock_status st;
    struct etcd_reply reply;
    char error[DLOCK_ERROR_SIZE];
    struct dlock_condition changed;
    struct part *prev, *next;
};

struct etcd_txns {
    struct etcd_http *http;
    struct dlock_mutex mutex; /* protects what follows, and all parts except while they
                               * are sent */
    struct part *queue;       /* not sent yet */
    int sender_count;
};

struct etcd_txns *etcd_txns_open(struct etcd_http *http)
{
    struct etcd_txns *txns = calloc(1, sizeof(*txns));

    if (txns == NULL)
        return NULL;
    txns->http = http;
    dlock_mutex_init(&txns->mutex);
    return txns;
}

void etcd_txns_close(struct etcd_txns *txns)
{
    if (txns == NULL)
        return;
    dlock_mutex_destroy(&txns->mutex);
    free(txns);
}

static dlock_status ask_alone(struct etcd_txns *txns, const char *text, int64_t give_up_ns,
                              struct etcd_reply *out)
{
    struct etcd_request request = {"/v3/kv/txn", text, give_up_ns, false, false};

    return etcd_http_ask(txns->http, &request, out);
}

/* --- several in one request --- */

static bool has_name(struct part *const *parts, int count, const char *name)
{
    for (int i = 0; i < count; i++)
        if (strcmp(parts[i]->name, name) == 0)
            return true;
    return false;
}

/* Take the parts that can be sent together out of the queue.  Returns their number.
 * The caller holds the mutex. */
static int gather(struct etcd_txns *txns, struct part *parts[PARTS_MAX])
{
    struct part *part, *next;
    int count = 0;

    DL_FOREACH_SAFE(txns->queue, part, next) {
        if (count == PARTS_MAX)
            break;
        if (has_name(parts, count, part->name))
            continue;
        DL_DELETE(txns->queue, part);
        part->is_sent = true;
        parts[count++] = part;
    }
    return count;
}

/* The text of one transaction of all parts; NULL: no memory. */
static char *join(struct part *const *parts, int count)
{
    size_t size = 2 * PART_EXTRA, len;
    char *text;

    for (int i = 0; i < count; i++)
        size += strlen(parts[i]->text) + PART_EXTRA;
    text = malloc(size);
    if (text == NULL)
        return NULL;
    len = (size_t)snprintf(text, size, "{\"success\":[");
    for (int i = 0; i < count; i++)
        len += (size_t)snprintf(text + len, size - len, "%s{\"request_txn\":%s}",
                                i > 0 ? "," : "", parts[i]->text);
    snprintf(text + len, size - len, "]}");
    return text;
}

/* Give a part its share of the answer, as a copy, so that no two threads share JSON
 * objects. */
static void share(const struct etcd_reply *whole, int nth, int count, struct part *part)
{
    const json_t *responses = json_object_get(whole->json, "responses");
    json_t *own = json_object_get(json_array_get(responses, (size_t)nth), "response_txn");
    json_t *header = json_object_get(whole->json, "header");

    if (whole->error != ETCD_DONE) {
        part->has_to_go_alone = true;
    } else if (json_array_size(responses) != (size_t)count || !json_is_object(own) ||
               json_object_set_new(own, "header", json_deep_copy(header)) != 0) {
        part->st = DLOCK_PROTOCOL;
        snprintf(part->error, sizeof(part->error),
                 "etcd: an answer that kv/txn cannot have");
    } else {
        part->reply.json = json_incref(own);
    }
}

static void send_together(struct etcd_txns *txns, struct part *const *parts, int count)
{
    struct etcd_reply whole = {.json = NULL};
    char *text = join(parts, count);
    dlock_status st = text != NULL ? ask_alone(txns, text, parts[0]->until_ns, &whole)
                                   : dlock_fail(DLOCK_NOMEM, "no memory for a request to etcd");

    free(text);
    for (int i = 0; i < count; i++) {
        parts[i]->st = st;
        parts[i]->reply.was_repeated = whole.was_repeated;
        if (st == DLOCK_OK)
            share(&whole, i, count, parts[i]);
        else if (st == DLOCK_PROTOCOL)
            parts[i]->has_to_go_alone = true;
        else
            snprintf(parts[i]->error, sizeof(parts[i]->error), "%s", dlock_error());
    }
    json_decref(whole.json);
}

static void send_one(struct etcd_txns *txns, struct part *part)
{
    part->st = ask_alone(txns, part->text, part->until_ns, &part->reply);
    if (part->st != DLOCK_OK)
        snprintf(part->error, sizeof(part->error), "%s", dlock_error());
}

/* Send the collected parts.  The caller holds the mutex, which is unlocked
 * meanwhile. */
static void send_gathered(struct etcd_txns *txns, const struct part *own)
{
    struct part *parts[PARTS_MAX];
    int count = gather(txns, parts);

    txns->sender_count++;
    dlock_mutex_unlock(&txns->mutex);
    if (count == 1)
        send_one(txns, parts[0]);
    else
        send_together(txns, parts, count);
    dlock_mutex_lock(&txns->mutex);
    txns->sender_count--;
    for (int i = 0; i < count; i++) {
        parts[i]->is_answered = true;
        if (parts[i] != own)
            dlock_condition_signal(&parts[i]->changed);
    }
    if (txns->queue != NULL)
        dlock_condition_signal(&txns->queue->changed);
}

/* Wait for the answer, and send if too few threads do. */
static void await(struct etcd_txns *txns, struct part *part)
{
    uint64_t sent_before = dlock_commands_sent;

    dlock_mutex_lock(&txns->mutex);
    DL_APPEND(txns->queue, part);
    while (!part->is_answered) {
        if (!part->is_sent && txns->sender_count < SENDERS_MAX)
            send_gathered(txns, part);
        else
            dlock_condition_wait(&part->changed, &txns->mutex);
    }
    dlock_mutex_unlock(&txns->mutex);
    if (dlock_commands_sent == sent_before)
        dlock_commands_sent++; /* another thread has sent it */
}

dlock_status etcd_txn_ask(struct etcd_txns *txns, const char *name, const char *text,
                          int64_t give_up_ns, struct etcd_reply *out)
{
    struct part part = {.name = name,
                        .text = text,
                        .until_ns = etcd_http_until_ns(txns->http)};
    bool was_repeated;
    dlock_status st;

    *out = (struct etcd_reply){.json = NULL};
    if (give_up_ns < part.until_ns) /* this deadline does not hold for the other
                                     * parts */
        return ask_alone(txns, text, give_up_ns, out);
    if (!dlock_condition_init(&part.changed))
        return dlock_fail(DLOCK_NOMEM, "no memory for a request to etcd");
    await(txns, &part);
    dlock_condition_destroy(&part.changed);
    *out = part.reply;
    if (!part.has_to_go_alone)
        return part.st == DLOCK_OK ? DLOCK_OK : dlock_fail(part.st, "%s", part.error);
    was_repeated = part.reply.was_repeated;
    st = ask_alone(txns, text, give_up_ns, out);
    out->was_repeated = out->was_repeated || was_repeated;
    return st;
}
