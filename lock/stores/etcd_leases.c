/* SPDX-License-Identifier: MIT */
/* etcd_leases.c -- etcd's leases for the keys of locks. */
#include "lock/stores/etcd_leases.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/os/clock.h"
#include "base/os/mutex.h"
#include "base/os/random.h"
#include "lock/stores/etcd_text.h"

enum {
    IDLE_MAX = 512,
    OWED_MAX = 512, /* a lease beyond this number ends by itself */
    OWED_AGAIN_MS = 100,
    SPARE_MS = 500, /* the least time granted beyond the requested time */
    CLOSE_MS = 500,
    BODY_SIZE = 96,
    MS_PER_S = 1000,
};

struct etcd_leases {
    struct etcd_http *http;
    struct dlock_mutex mutex; /* protects what follows */
    struct etcd_lease idle[IDLE_MAX];
    int idle_count;
    uint64_t owed[OWED_MAX]; /* to be revoked */
    int owed_count;
    int64_t owed_try_ns; /* not before */
};

struct etcd_leases *etcd_leases_open(struct etcd_http *http)
{
    struct etcd_leases *leases = calloc(1, sizeof(*leases));

    if (leases == NULL)
        return NULL;
    leases->http = http;
    dlock_mutex_init(&leases->mutex);
    return leases;
}

void etcd_leases_close(struct etcd_leases *leases)
{
    int64_t give_up_ns = dlock_clock_after(dlock_clock_ns(), CLOSE_MS);

    if (leases == NULL)
        return;
    while (leases->idle_count > 0) {
        const struct etcd_lease *lease = &leases->idle[--leases->idle_count];

        if (etcd_lease_lasts(lease, dlock_clock_ns()) &&
            dlock_is_failure(etcd_lease_end(leases, lease->id, give_up_ns)))
            break;
    }
    dlock_mutex_destroy(&leases->mutex);
    free(leases);
}

bool etcd_lease_lasts(const struct etcd_lease *lease, int64_t until_ns)
{
    return dlock_clock_after(lease->renewed_ns, lease->ttl_ms) >= until_ns;
}

/* --- requests --- */

/* Ask about one lease. */
static dlock_status ask(struct etcd_leases *leases, const char *path, const char *body,
                        int64_t give_up_ns, struct etcd_reply *out)
{
    struct etcd_request request = {path, body, give_up_ns, false, false};

    return etcd_http_ask(leases->http, &request, out);
}

static dlock_status refuse(const char *what)
{
    return dlock_fail(DLOCK_PROTOCOL, "etcd: an answer that %s cannot have", what);
}

static dlock_status grant(struct etcd_leases *leases, int64_t asked_s, int64_t give_up_ns,
                          struct etcd_lease *out)
{
    struct etcd_reply reply;
    char body[BODY_SIZE];
    int64_t ttl_s = 0;
    dlock_status st;

    *out = (struct etcd_lease){.asked_s = asked_s, .renewed_ns = dlock_clock_ns()};
    while (out->id == 0) { /* the number is chosen here, so that a copy of the request
                            * changes nothing */
        dlock_random_bytes(&out->id, sizeof(out->id));
        out->id &= INT64_MAX;
    }
    snprintf(body, sizeof(body), "{\"ID\":\"%" PRIu64 "\",\"TTL\":\"%" PRId64 "\"}", out->id,
             asked_s);
    st = ask(leases, "/v3/lease/grant", body, give_up_ns, &reply);
    if (st != DLOCK_OK)
        return st == DLOCK_UNKNOWN ? DLOCK_IO : st; /* a lease without a key blocks no
                                                     * lock */
    if (reply.error == ETCD_PRECONDITION && reply.was_repeated)
        ttl_s = asked_s; /* granted by the first copy */
    else if (reply.error != ETCD_DONE || !etcd_number(reply.json, "TTL", 0, &ttl_s) ||
             ttl_s < asked_s || ttl_s > INT64_MAX / MS_PER_S)
        st = refuse("lease/grant");
    if (st == DLOCK_OK)
        out->ttl_ms = ttl_s * MS_PER_S;
    json_decref(reply.json);
    return st;
}

/* Read the answer to a renewal of this lease that was sent at sent_ns. */
static dlock_status read_renewal(const json_t *json, int64_t sent_ns, struct etcd_lease *lease)
{
    const json_t *result = json_object_get(json, "result");
    int64_t id = 0, ttl_s = 0;

    if (!etcd_number(result, "ID", 1, &id) || (uint64_t)id != lease->id ||
        !etcd_number(result, "TTL", 0, &ttl_s) ||
        (ttl_s > 0 && ttl_s < lease->ttl_ms / MS_PER_S))
        return refuse("lease/keepalive");
    if (ttl_s == 0)
        return DLOCK_LOST; /* etcd leaves out the 0 */
    lease->renewed_ns = sent_ns;
    return DLOCK_OK;
}

dlock_status etcd_lease_renew(struct etcd_leases *leases, struct etcd_lease *lease,
                              int64_t give_up_ns)
{
    int64_t sent_ns = dlock_clock_ns();
    struct etcd_reply reply;
    char body[BODY_SIZE];
    dlock_status st;

    snprintf(body, sizeof(body), "{\"ID\":\"%" PRIu64 "\"}", lease->id);
    st = ask(leases, "/v3/lease/keepalive", body, give_up_ns, &reply);
    if (st != DLOCK_OK)
        return st;
    if (reply.error == ETCD_NOT_FOUND)
        st = DLOCK_LOST;
    else
        st = reply.error == ETCD_DONE ? read_renewal(reply.json, sent_ns, lease)
                                      : refuse("lease/keepalive");
    json_decref(reply.json);
    return st;
}

/* etcd answers in the order of the leases, and ends its answers with an error. */
void etcd_lease_renew_all(struct etcd_leases *leases, struct etcd_lease *const *all,
                          size_t count, int64_t give_up_ns, dlock_status *statuses)
{
    char body[DLOCK_RENEW_ALL_MAX * BODY_SIZE];
    struct etcd_request request = {"/v3/lease/keepalive", body, give_up_ns, .is_stream = true};
    int64_t sent_ns = dlock_clock_ns();
    struct etcd_reply reply;
    const json_t *one;
    size_t len = 0;
    dlock_status st;

    for (size_t i = 0; i < count; i++)
        len += (size_t)snprintf(body + len, sizeof(body) - len, "{\"ID\":\"%" PRIu64 "\"}",
                                all[i]->id);
    st = etcd_http_ask(leases->http, &request, &reply);
    for (size_t i = 0; i < count; i++)
        statuses[i] = st == DLOCK_OK ? DLOCK_IO : st;
    if (st != DLOCK_OK)
        return;
    one = reply.json;
    for (size_t i = 0; i < count; i++) {
        if (json_object_get(one, "result") == NULL)
            break;
        statuses[i] = read_renewal(one, sent_ns, all[i]);
        one = json_array_get(json_object_get(reply.json, "next"), i);
    }
    json_decref(reply.json);
}

dlock_status etcd_lease_end(struct etcd_leases *leases, uint64_t id, int64_t give_up_ns)
{
    struct etcd_reply reply;
    char body[BODY_SIZE];
    dlock_status st;

    snprintf(body, sizeof(body), "{\"ID\":\"%" PRIu64 "\"}", id);
    st = ask(leases, "/v3/lease/revoke", body, give_up_ns, &reply);
    if (st != DLOCK_OK)
        return st;
    json_decref(reply.json);
    if (reply.error == ETCD_NOT_FOUND)
        return reply.was_repeated ? DLOCK_OK : DLOCK_LOST;
    return reply.error == ETCD_DONE ? DLOCK_OK : refuse("lease/revoke");
}

dlock_status etcd_lease_look(struct etcd_leases *leases, uint64_t id, int64_t *left_s)
{
    struct etcd_reply reply;
    char body[BODY_SIZE];
    dlock_status st;

    snprintf(body, sizeof(body), "{\"ID\":\"%" PRIu64 "\"}", id);
    st = ask(leases, "/v3/lease/timetolive", body, INT64_MAX, &reply);
    if (st != DLOCK_OK)
        return st;
    if (reply.error == ETCD_NOT_FOUND)
        *left_s = -1;
    else if (reply.error != ETCD_DONE || !etcd_number(reply.json, "TTL", -1, left_s))
        st = refuse("lease/timetolive");
    json_decref(reply.json);
    return st;
}

/* --- leases that are to end --- */

void etcd_lease_owe(struct etcd_leases *leases, uint64_t id)
{
    dlock_mutex_lock(&leases->mutex);
    if (leases->owed_count < OWED_MAX)
        leases->owed[leases->owed_count++] = id;
    leases->owed_try_ns = dlock_clock_after(dlock_clock_ns(), OWED_AGAIN_MS);
    dlock_mutex_unlock(&leases->mutex);
}

/* Take one of the owed leases, if the pause has passed. 0: none. */
static uint64_t take_owed(struct etcd_leases *leases)
{
    uint64_t id = 0;

    dlock_mutex_lock(&leases->mutex);
    if (leases->owed_count > 0 && dlock_clock_ns() >= leases->owed_try_ns)
        id = leases->owed[--leases->owed_count];
    dlock_mutex_unlock(&leases->mutex);
    return id;
}

void etcd_lease_pay(struct etcd_leases *leases, int64_t give_up_ns)
{
    uint64_t id = take_owed(leases);

    if (id != 0 && dlock_is_failure(etcd_lease_end(leases, id, give_up_ns)))
        etcd_lease_owe(leases, id);
}

/* --- idle ones --- */

/* Take the idle lease of that length that was given back last.  False: there is
 * none. */
static bool take_idle(struct etcd_leases *leases, int64_t asked_s, struct etcd_lease *out)
{
    int i;

    dlock_mutex_lock(&leases->mutex);
    for (i = leases->idle_count - 1; i >= 0 && leases->idle[i].asked_s != asked_s; i--)
        continue;
    if (i >= 0) {
        *out = leases->idle[i];
        leases->idle_count--;
        for (; i < leases->idle_count; i++)
            leases->idle[i] = leases->idle[i + 1];
    }
    dlock_mutex_unlock(&leases->mutex);
    return i >= 0;
}

void etcd_lease_give(struct etcd_leases *leases, const struct etcd_lease *lease)
{
    dlock_mutex_lock(&leases->mutex);
    if (leases->idle_count < IDLE_MAX) /* a lease beyond the limit ends by itself */
        leases->idle[leases->idle_count++] = *lease;
    dlock_mutex_unlock(&leases->mutex);
}

dlock_status etcd_lease_take(struct etcd_leases *leases, int lease_ms, int64_t give_up_ns,
                             struct etcd_lease *out)
{
    int64_t asked_s = ((int64_t)lease_ms + SPARE_MS + MS_PER_S - 1) / MS_PER_S;

    etcd_lease_pay(leases, give_up_ns);
    while (take_idle(leases, asked_s, out)) {
        int64_t now_ns = dlock_clock_ns();
        dlock_status st;

        if (etcd_lease_lasts(out, dlock_clock_after(now_ns, lease_ms)))
            return DLOCK_OK;
        if (!etcd_lease_lasts(out, now_ns))
            continue; /* it has ended, or will end, and has no key */
        st = etcd_lease_renew(leases, out, give_up_ns);
        if (st == DLOCK_LOST)
            continue;
        if (st != DLOCK_OK)
            etcd_lease_give(leases, out);
        return st == DLOCK_UNKNOWN ? DLOCK_IO : st;
    }
    return grant(leases, asked_s, give_up_ns, out);
}
