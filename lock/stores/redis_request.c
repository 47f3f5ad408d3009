/* SPDX-License-Identifier: MIT */
/* redis_request.c -- requests to Redis whose outcome is a dlock_status. */
#include "lock/stores/redis_request.h"

#include <string.h>

#include "base/os/utf8.h"
#include "base/redis/cluster_links.h"
#include "base/redis/cluster_subscription.h"
#include "lock/dlock_variant.h"
#include "lock/stores/redis_fault.h"

dlock_status redis_status(enum redis_outcome outcome)
{
    static const dlock_status STATUSES[] = {
        [REDIS_ANSWERED] = DLOCK_OK,       [REDIS_NOT_DONE] = DLOCK_IO,
        [REDIS_UNKNOWN] = DLOCK_UNKNOWN,   [REDIS_PROTOCOL] = DLOCK_PROTOCOL,
        [REDIS_NO_MEMORY] = DLOCK_NOMEM,
    };

    return STATUSES[outcome];
}

/* The status of an answer; a failure has its reason in dlock_error(). */
static dlock_status told(const struct redis_answer *answer)
{
    if (answer->outcome == REDIS_ANSWERED)
        return DLOCK_OK;
    if (answer->redirect != REDIS_NO_REDIRECT)
        return dlock_fail(redis_status(answer->outcome),
                          "%s; the server is a node of a Redis Cluster, whose address is "
                          "redis-cluster://host:port", answer->text);
    return dlock_fail(redis_status(answer->outcome), "%s", answer->text);
}

static dlock_status read_url(const char *text, struct redis_url *url)
{
    char why[REDIS_WHY_SIZE];

    if (redis_url_parse(text, url, why, sizeof(why)))
        return utf8_hide(url->password) && utf8_hide(url->sentinel_password)
                   ? DLOCK_OK
                   : dlock_fail(DLOCK_NOMEM, "no memory for a password");
    return dlock_fail(DLOCK_INVALID, "the Redis URL cannot be read, %s; it has to be %s", why,
                      redis_url_form(text));
}

dlock_status redis_link_open(struct redis_link **out, const char *url, int timeout_ms,
                             bool slow_is_down)
{
    return redis_link_open_beside(NULL, out, url, timeout_ms, slow_is_down);
}

dlock_status redis_link_open_beside(struct redis_link *first, struct redis_link **out,
                                    const char *url, int timeout_ms, bool slow_is_down)
{
    struct redis_url place;
    dlock_status st = read_url(url, &place);

    *out = NULL;
    if (st != DLOCK_OK)
        return st;
    *out = place.seed_count > 0
               ? redis_cluster_link_new(&place, timeout_ms, slow_is_down)
               : redis_link_new(first, &place, timeout_ms, slow_is_down);
    return *out != NULL ? DLOCK_OK : dlock_fail(DLOCK_NOMEM, "no memory for a link to Redis");
}

dlock_status redis_subscription_open(struct redis_subscription **out, const char *url,
                                     int timeout_ms)
{
    struct redis_url place;
    dlock_status st = read_url(url, &place);

    *out = NULL;
    if (st != DLOCK_OK)
        return st;
    *out = place.seed_count > 0 ? redis_cluster_subscription_new(&place, timeout_ms)
                                : redis_subscription_new(&place, timeout_ms);
    return *out != NULL ? DLOCK_OK
                        : dlock_fail(DLOCK_NOMEM, "no memory or event for a subscription");
}

dlock_status redis_call(struct redis_link *link, const struct redis_command *command,
                        int64_t give_up_ns, struct redis_answer *answer)
{
    struct redis_leg leg = {.link = link};

    redis_exchange(&leg, 1, command, give_up_ns);
    *answer = leg.answer;
    return told(answer);
}

dlock_status redis_call_write(struct redis_link *link, const struct redis_write *write,
                              int64_t give_up_ns, struct redis_answer *answer)
{
    redis_write_exchange(link, write, give_up_ns, answer);
    return told(answer);
}

dlock_status redis_ping(struct redis_link *link)
{
    static const struct redis_command ping = {1, {"PING"}, REDIS_SHAPE_PING};
    struct redis_leg leg = {.link = link, .despite_failure = true};

    redis_exchange(&leg, 1, &ping, INT64_MAX);
    return told(&leg.answer);
}

dlock_status redis_talk_say(struct redis_talk *talk,
                            const struct redis_command *command, int64_t give_up_ns,
                            struct redis_answer *answer)
{
    redis_talk_ask(talk, command, give_up_ns, answer);
    return told(answer);
}

dlock_status redis_script_load(struct redis_link *link, struct redis_script *script)
{
    const char *text = redis_link_script_text(link, script->text);
    struct redis_command load = {3, {"SCRIPT", "LOAD", text}, REDIS_SHAPE_SHA};
    struct redis_answer answer;
    dlock_status st;

    if (text == NULL)
        return dlock_fail(DLOCK_NOMEM, "no memory for a script");
    st = redis_call(link, &load, INT64_MAX, &answer);
    if (st == DLOCK_OK)
        memcpy(script->sha, answer.text, REDIS_SHA_SIZE);
    return st;
}

dlock_status redis_script_run(struct redis_link *link,
                              const struct redis_script_call *call, int64_t give_up_ns,
                              struct redis_answer *answer)
{
    struct redis_leg leg = {.link = link};
    dlock_status st =
        redis_fault_before(link, DLOCK_FAULT_BEFORE_REQUEST, call->argv[0]);

    if (st != DLOCK_OK)
        return st;
    redis_script_exchange(&leg, 1, call, give_up_ns);
    *answer = leg.answer;
    return redis_fault_after(link, call->argv[0], told(answer));
}

dlock_status redis_script_write(struct redis_link *link, const struct redis_write *write,
                                int64_t give_up_ns, struct redis_answer *answer)
{
    const char *key = write->script->argv[0];
    dlock_status st = redis_fault_before(link, DLOCK_FAULT_BEFORE_REQUEST, key);

    if (st != DLOCK_OK)
        return st;
    return redis_fault_after(link, key, redis_call_write(link, write, give_up_ns, answer));
}

dlock_status redis_script_leave(struct redis_link *link,
                                const struct redis_script_call *call,
                                struct redis_post *post)
{
    dlock_status st =
        redis_fault_before(link, DLOCK_FAULT_BEFORE_REQUEST, call->argv[0]);

    if (st != DLOCK_OK || redis_script_post(link, call, post))
        return st;
    return dlock_fail(DLOCK_IO, "%s: a request could not be queued",
                      redis_link_label(link));
}
