/* SPDX-License-Identifier: MIT */
/* permits.c -- Redisson's semaphore of permits that expire.
 *
 * Promises    no more permits are taken at once than exist; a permit of a dead holder
 *             is free after its lease; only its id gives it back; waiters are woken.
 * Breaks      when the wall clocks of the clients disagree by as much as a lease, since
 *             ends are times of those clocks, as Redisson's are; and when a process
 *             stops for longer than its lease and then goes on.
 *
 * The key `name` has the number of free permits.  The sorted set {name}:timeout has the
 * taken permits: an id of 16 raw bytes, and the end of its lease, for each.  The
 * channel and its messages are those of a semaphore. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/os/clock.h"
#include "base/os/thread.h"
#include "lock/primitives/primitives.h"
#include "lock/process.h"
#include "lock/token.h"

enum { NUMBER_SIZE = 24 };

/* The keys beside the number. */
struct keys {
    char taken[REDISSON_NAME_SIZE];
    char channel[REDISSON_NAME_SIZE];
};

static struct keys keys_of(const char *name)
{
    struct keys keys = {0};
    bool has_braces = strchr(name, '{') != NULL;

    snprintf(keys.taken, sizeof(keys.taken), "%s%s%s:timeout", has_braces ? "" : "{",
             name, has_braces ? "" : "}");
    primitive_semaphore_channel(name, keys.channel);
    return keys;
}

static void write_now(char out[NUMBER_SIZE])
{
    snprintf(out, NUMBER_SIZE, "%" PRId64, dlock_process_wall_ms());
}

static dlock_status check_lease(int lease_ms)
{
    if (lease_ms >= DLOCK_LEASE_MIN_MS)
        return DLOCK_OK;
    return dlock_fail(DLOCK_INVALID, "a lease of %d ms is below the least, %d ms",
                      lease_ms, (int)DLOCK_LEASE_MIN_MS);
}

static dlock_status check_permit(const dlock_permit *permit)
{
    if (permit != NULL && memchr(permit->id, '\0', sizeof(permit->id)) != NULL &&
        strspn(permit->id, "0123456789abcdefABCDEF") == DLOCK_TOKEN_LEN)
        return DLOCK_OK;
    return dlock_fail(DLOCK_INVALID, "a permit's id is %d hex digits",
                      (int)DLOCK_TOKEN_LEN);
}

dlock_status dlock_permits_set(dlock_primitives *prims, const char *name, int permits)
{
    return dlock_semaphore_set(prims, name, permits);
}

static dlock_status give_back(dlock_primitives *prims, const char *name,
                              const dlock_permit *permit, bool by_text)
{
    char now[NUMBER_SIZE];
    struct keys keys = keys_of(name);
    struct redis_script_call call = PRIMITIVE_CALL(
        prims, PERMITS_RELEASE, 3, 2, name, keys.taken, keys.channel, permit->id, now);

    call.by_text = by_text;
    write_now(now);
    return primitive_ask(prims, &call, DLOCK_LOST);
}

/* A permit that an attempt may have taken, and whose release failed. */
struct doubt {
    dlock_permit permit;
    int64_t end_ns;
};

enum { DOUBTS_MAX = 4 }; /* more arise only while the store is away for long */

struct acquiring {
    struct primitive_wait wait;
    const char *name;
    int lease_ms;
    dlock_permit permit; /* the last attempt's */
    struct keys keys;
    bool was_late;
    bool in_vain;   /* an attempt took a permit, or may have, and it was given back */
    int64_t end_ns; /* of the last attempt's permit, if it was granted */
    struct doubt doubts[DOUBTS_MAX]; /* the oldest first */
    int doubt_count;
};

/* Release the permit that an unanswered attempt may have taken.  The reason in
 * dlock_error() stays that of the attempt. */
static void clean_up(struct acquiring *job, dlock_status st)
{
    char why[256];

    snprintf(why, sizeof(why), "%s", dlock_error());
    if (dlock_is_failure(give_back(job->wait.prims, job->name, &job->permit, true))) {
        if (job->doubt_count == DOUBTS_MAX)
            memmove(job->doubts, job->doubts + 1,
                    (size_t)--job->doubt_count * sizeof(*job->doubts));
        job->doubts[job->doubt_count++] = (struct doubt){job->permit, job->end_ns};
    }
    job->in_vain = true;
    (void)dlock_fail(st, "%s", why);
}

/* Send each release that failed once more, until one fails again.  A permit whose lease
 * has ended needs none. */
static void permit_settle(struct acquiring *job)
{
    bool answers = true;
    int kept_count = 0;

    for (int i = 0; i < job->doubt_count; i++) {
        const struct doubt doubt = job->doubts[i];

        if (dlock_clock_ns() >= doubt.end_ns)
            continue;
        answers = answers &&
                  !dlock_is_failure(give_back(job->wait.prims, job->name, &doubt.permit, true));
        if (!answers)
            job->doubts[kept_count++] = doubt;
    }
    job->doubt_count = kept_count;
}

/* The answer of an acquire that ended with `st`. */
static dlock_status permit_answer(struct acquiring *job, dlock_status st)
{
    char why[256];

    if (job->was_late && !dlock_is_failure(st))
        st = dlock_fail(DLOCK_TIMEOUT, "granted only after the lease of %d ms had run out",
                        job->lease_ms);
    if ((st != DLOCK_TIMEOUT && st != DLOCK_IO) || job->doubt_count == 0)
        return st;
    snprintf(why, sizeof(why), "%s", dlock_error());
    permit_settle(job);
    if (job->doubt_count == 0)
        return dlock_fail(st, "%s", why);
    return dlock_fail(DLOCK_UNKNOWN, "an attempt may have taken a permit, which stays taken "
                                     "until its lease ends%s%.180s",
                      why[0] != '\0' ? "; " : "", why);
}

static dlock_status try_once(struct acquiring *job, int64_t *free_in_ms)
{
    dlock_primitives *prims = job->wait.prims;
    char now[NUMBER_SIZE], lease[NUMBER_SIZE];
    struct redis_script_call call =
        PRIMITIVE_CALL(prims, PERMITS_ACQUIRE, 3, 3, job->name, job->keys.taken,
                       job->keys.channel, job->permit.id, now, lease);
    struct redis_answer answer;
    dlock_status st;

    call.shape = REDIS_SHAPE_PERMIT;
    write_now(now);
    snprintf(lease, sizeof(lease), "%d", job->lease_ms);
    st = redis_script_run(prims->link, &call, INT64_MAX, &answer);
    if (st != DLOCK_OK || answer.kind == REDIS_NIL)
        return st;
    *free_in_ms = answer.integer;
    return DLOCK_BUSY;
}

/* Has another server taken over the name since that era (era.h)? */
static bool permit_is_of_old_server(const dlock_primitives *prims, const char *name, uint64_t era)
{
    return redis_link_key_era(prims->link, name) != era;
}

static dlock_status attempt(void *arg, int64_t *free_in_ms)
{
    struct acquiring *job = arg;
    dlock_status st = DLOCK_BUSY;

    permit_settle(job);
    for (int tries = 0; tries < 2; tries++) {
        uint64_t era = redis_link_key_era(job->wait.prims->link, job->name);

        if (tries > 0)
            clean_up(job, st); /* which server has granted it is not known */
        *free_in_ms = -1;
        dlock_token_make(job->permit.id);
        job->end_ns = dlock_clock_after(dlock_clock_ns(), job->lease_ms);
        st = try_once(job, free_in_ms);
        if (st != DLOCK_OK || !permit_is_of_old_server(job->wait.prims, job->name, era))
            break;
    }
    job->was_late = st == DLOCK_OK && dlock_clock_ns() >= job->end_ns;
    if (job->was_late)
        st = DLOCK_BUSY;
    if (job->was_late || st == DLOCK_UNKNOWN || st == DLOCK_PROTOCOL)
        clean_up(job, st);
    return st;
}

/* The instant at which a permit that ends at `end_ns` may have ended for others, whose
 * clocks count whole ms. */
static int64_t promised_ns(int64_t end_ns)
{
    return end_ns - DLOCK_NS_PER_MS;
}

/* A refused acquire with a deadline tells the judge that a permit was away meanwhile. */
static void record_take(const struct acquiring *job, const struct primitive_call *call,
                        dlock_status st)
{
    dlock_event answer = {0};

    if (st == DLOCK_OK || job->was_late) {
        answer.token = job->permit.id;
        answer.deadline_ns = promised_ns(job->end_ns);
    } else if (job->in_vain && !dlock_is_failure(st)) {
        answer.deadline_ns = dlock_clock_ns();
    }
    (void)primitive_end(job->wait.prims, call, st, &answer);
}

dlock_status dlock_permits_acquire(dlock_primitives *prims, const char *name,
                                   int64_t wait_ms, int lease_ms, dlock_permit *permit)
{
    DLOCK_PUT_OFF_CANCEL;
    struct acquiring job = {
        .wait = {.prims = prims, .wake = {&REDIS_WAKE_SEMAPHORE, 1}},
        .name = name,
        .lease_ms = lease_ms,
    };
    dlock_event asked = {.kind = DLOCK_EVENT_PERMIT_TAKE,
                         .name = name,
                         .wait_ms = wait_ms,
                         .lease_ms = lease_ms};
    dlock_status st = primitive_check(prims, name, primitive_semaphore_channel);
    struct primitive_call call;

    if (st == DLOCK_OK)
        st = check_lease(lease_ms);
    if (st == DLOCK_OK)
        st = primitive_check_place(permit);
    if (st != DLOCK_OK)
        return st;
    job.keys = keys_of(name);
    memcpy(job.wait.channel, job.keys.channel, sizeof(job.wait.channel));
    call = primitive_begin(prims, &asked);
    st = permit_answer(&job, primitive_wait(&job.wait, wait_ms, attempt, &job));
    record_take(&job, &call, st);
    if (st == DLOCK_OK)
        *permit = job.permit;
    return st;
}

dlock_status dlock_permits_release(dlock_primitives *prims, const char *name,
                                   const dlock_permit *permit)
{
    DLOCK_PUT_OFF_CANCEL;
    dlock_status st = primitive_check(prims, name, primitive_semaphore_channel);
    dlock_event asked = {.kind = DLOCK_EVENT_PERMIT_GIVE, .name = name};
    struct primitive_call call;

    if (st == DLOCK_OK)
        st = check_permit(permit);
    if (st != DLOCK_OK)
        return st;
    asked.token = permit->id;
    call = primitive_begin(prims, &asked);
    st = give_back(prims, name, permit, false);
    return primitive_end(prims, &call, st, NULL);
}

dlock_status dlock_permits_renew(dlock_primitives *prims, const char *name,
                                 const dlock_permit *permit, int lease_ms)
{
    DLOCK_PUT_OFF_CANCEL;
    dlock_status st = primitive_check(prims, name, primitive_semaphore_channel);
    char now[NUMBER_SIZE], lease[NUMBER_SIZE];
    dlock_event asked = {.kind = DLOCK_EVENT_PERMIT_RENEW,
                         .name = name,
                         .lease_ms = lease_ms}, answer = {0};
    struct keys keys;
    int64_t end_ns = 0;
    struct primitive_call call;

    if (st == DLOCK_OK)
        st = check_permit(permit);
    if (st == DLOCK_OK)
        st = check_lease(lease_ms);
    if (st != DLOCK_OK)
        return st;
    keys = keys_of(name);
    asked.token = permit->id;
    call = primitive_begin(prims, &asked);
    snprintf(lease, sizeof(lease), "%d", lease_ms);
    for (int tries = 0; tries < 2; tries++) {
        uint64_t era = redis_link_key_era(prims->link, name);

        end_ns = dlock_clock_after(dlock_clock_ns(), lease_ms);
        write_now(now);
        st = primitive_ask(prims,
                           &PRIMITIVE_CALL(prims, PERMITS_RENEW, 1, 3, keys.taken, permit->id,
                                           now, lease),
                           DLOCK_LOST);
        if (st != DLOCK_OK || !permit_is_of_old_server(prims, name, era))
            break; /* otherwise the new server may not know the permit */
    }
    if (st == DLOCK_OK)
        answer.deadline_ns = promised_ns(end_ns);
    if (st == DLOCK_OK && dlock_clock_ns() >= end_ns)
        st = dlock_fail(DLOCK_LOST, "renewed only after the lease of %d ms had run out",
                        lease_ms);
    return primitive_end(prims, &call, st, &answer);
}

static dlock_status count(dlock_primitives *prims, const char *name, const char *which,
                          const struct redis_shape *shape, int64_t *permits)
{
    dlock_status st = primitive_check(prims, name, primitive_semaphore_channel);
    char now[NUMBER_SIZE];
    struct keys keys;

    if (st == DLOCK_OK)
        st = primitive_check_place(permits);
    if (st != DLOCK_OK)
        return st;
    keys = keys_of(name);
    write_now(now);
    return primitive_read(
        primitive_number(prims,
                         &PRIMITIVE_CALL(prims, PERMITS_COUNT, 2, 2, name, keys.taken, now, which),
                         shape, permits));
}

dlock_status dlock_permits_available(dlock_primitives *prims, const char *name,
                                     int64_t *permits)
{
    DLOCK_PUT_OFF_CANCEL;
    return count(prims, name, "available", REDIS_SHAPE_BALANCE, permits);
}

dlock_status dlock_permits_acquired(dlock_primitives *prims, const char *name,
                                    int64_t *permits)
{
    DLOCK_PUT_OFF_CANCEL;
    return count(prims, name, "acquired", REDIS_SHAPE_COUNT, permits);
}
