/* SPDX-License-Identifier: MIT */
/* redis_single.c -- the common part of the variants on one Redis. */
#include "lock/stores/redis_single.h"

#include <stdio.h>

#include "lock/stores/redis_fault.h"
#include "lock/stores/redis_rights.h"

dlock_status redis_single_open(const dlock_options *opts, const char *commands,
                               struct redis_link **out)
{
    dlock_status st;

    *out = NULL;
    if (opts->redis_url == NULL || opts->redis_url[0] == '\0')
        return dlock_fail(DLOCK_INVALID, "%s needs the URL of a Redis server",
                          opts->variant);
    st = redis_link_open(out, opts->redis_url, opts->redis_timeout_ms, false);
    if (st == DLOCK_OK)
        redis_link_need_replicas(*out, (int)opts->replicas_acknowledge);
    if (st == DLOCK_OK)
        st = redis_single_check(*out, commands);
    if (st != DLOCK_OK) {
        redis_link_close(*out);
        *out = NULL;
    }
    /* An unanswered PING changes nothing, so the answer is IO. */
    return st == DLOCK_UNKNOWN ? DLOCK_IO : st;
}

dlock_status redis_single_check(struct redis_link *link, const char *commands)
{
    dlock_status st = redis_ping(link);

    if (st != DLOCK_OK || commands == NULL)
        return st;
    return redis_rights_check(link, (struct redis_rights){.commands = commands});
}

uint64_t redis_single_era(void *link, const char *name)
{
    return redis_link_key_era(link, name);
}

/* Send a command whose first argument is `key`, with the fault points. */
static dlock_status call(struct redis_link *link, const struct redis_command *command,
                         struct redis_answer *answer)
{
    const char *key = command->argv[1];
    dlock_status st = redis_fault_before(link, DLOCK_FAULT_BEFORE_REQUEST, key);

    if (st != DLOCK_OK)
        return st;
    st = redis_call(link, command, INT64_MAX, answer);
    return redis_fault_after(link, key, st);
}

/* The same for a write: if the answer says that it is done, replicas have to
 * acknowledge it. */
static dlock_status call_write(struct redis_link *link, const struct redis_command *command,
                               bool is_done(const struct redis_answer *),
                               struct redis_answer *answer)
{
    struct redis_write write = {.command = command, .is_done = is_done};
    const char *key = command->argv[1];
    dlock_status st = redis_fault_before(link, DLOCK_FAULT_BEFORE_REQUEST, key);

    if (st != DLOCK_OK)
        return st;
    st = redis_call_write(link, &write, INT64_MAX, answer);
    return redis_fault_after(link, key, st);
}

static bool is_set(const struct redis_answer *answer)
{
    return answer->kind == REDIS_STATUS;
}

static bool is_one(const struct redis_answer *answer)
{
    return answer->integer == 1;
}

dlock_status redis_set_if_absent(struct redis_link *link, const char *key,
                                 const char *value, int lease_ms)
{
    char lease[12];
    struct redis_command set = {6, {"SET", key, value, "NX", "PX", lease},
                                REDIS_SHAPE_SET};
    struct redis_answer answer;
    dlock_status st;

    snprintf(lease, sizeof(lease), "%d", lease_ms);
    st = call_write(link, &set, is_set, &answer);
    if (st != DLOCK_OK)
        return st;
    return answer.kind == REDIS_NIL ? DLOCK_BUSY : DLOCK_OK;
}

/* The answer 1 or 0. */
static dlock_status yes_or_no(dlock_status st, const struct redis_answer *answer)
{
    if (st != DLOCK_OK)
        return st;
    return answer->integer == 1 ? DLOCK_OK : DLOCK_LOST;
}

dlock_status redis_set_first(struct redis_link *link, const char *key,
                             const char *value)
{
    struct redis_command setnx = {3, {"SETNX", key, value}, REDIS_SHAPE_YES_NO};
    struct redis_answer answer;
    dlock_status st = call(link, &setnx, &answer);

    st = yes_or_no(st, &answer);
    return st == DLOCK_LOST ? DLOCK_BUSY : st;
}

/* `is_grant`: replicas have to acknowledge it. */
static dlock_status expire(struct redis_link *link, const char *key, int lease_ms, bool is_grant)
{
    char lease[12];
    struct redis_command command = {3, {"PEXPIRE", key, lease}, REDIS_SHAPE_YES_NO};
    struct redis_answer answer;
    dlock_status st;

    snprintf(lease, sizeof(lease), "%d", lease_ms);
    st = is_grant ? call_write(link, &command, is_one, &answer) : call(link, &command, &answer);
    return yes_or_no(st, &answer);
}

dlock_status redis_expire(struct redis_link *link, const char *key, int lease_ms)
{
    return expire(link, key, lease_ms, false);
}

dlock_status redis_expire_grant(struct redis_link *link, const char *key, int lease_ms)
{
    return expire(link, key, lease_ms, true);
}

dlock_status redis_delete(struct redis_link *link, const char *key)
{
    struct redis_command del = {2, {"DEL", key}, REDIS_SHAPE_YES_NO};
    struct redis_answer answer;
    dlock_status st = call(link, &del, &answer);

    return yes_or_no(st, &answer);
}

dlock_status redis_get(struct redis_link *link, const char *key,
                       const struct redis_shape *shape, struct redis_answer *answer)
{
    struct redis_command get = {2, {"GET", key}, shape};
    dlock_status st = call(link, &get, answer);

    if (st != DLOCK_OK)
        return st;
    return answer->kind == REDIS_NIL ? DLOCK_LOST : DLOCK_OK;
}

dlock_status redis_script_ask(struct redis_link *link,
                              const struct redis_script_call *call, int64_t give_up_ns)
{
    struct redis_script_call asked = *call;
    struct redis_answer answer;
    dlock_status st;

    asked.shape = REDIS_SHAPE_YES_NO;
    st = redis_script_run(link, &asked, give_up_ns, &answer);
    return yes_or_no(st, &answer);
}

dlock_status redis_script_extend(struct redis_link *link,
                                 const struct redis_script_call *call, int64_t give_up_ns)
{
    struct redis_script_call asked = *call;
    struct redis_write write = {.script = &asked, .is_done = is_one};
    struct redis_answer answer;
    dlock_status st;

    asked.shape = REDIS_SHAPE_YES_NO;
    st = redis_script_write(link, &write, give_up_ns, &answer);
    return yes_or_no(st, &answer);
}

dlock_status redis_read_yes_no(void *state, const dlock_claim *claim,
                               const struct redis_answer *answer)
{
    (void)state;
    (void)claim;
    return yes_or_no(DLOCK_OK, answer);
}
