/* SPDX-License-Identifier: MIT */
/* model_strings.c -- the commands about strings, and about the expiry and existence of
 * all keys. */
#include <stdio.h>

#include "tests/simulation/model.h"

/* Make the key a string with the value, and without expiry. */
static struct key *store(struct call *call, struct bytes name, struct bytes value)
{
    struct model *model = call->model;
    struct key *key;

    (void)keys_remove(&model->keys, name);
    key = keys_add(&model->keys, name, STRING);
    key_set_string(key, value);
    model_touch(model, name);
    return key;
}

static bool exists(struct call *call, struct bytes name)
{
    return keys_find(&call->model->keys, name, model_now_ms(call->model)) != NULL;
}

/* Compute the instant that is the argument's time from now. Returns false if the argument is no
 * time; the reply then says so. */
static bool end_in(struct call *call, size_t at, int64_t *end_ms)
{
    int64_t by_ms;

    if (!model_number(call, at, &by_ms))
        return false;
    if (by_ms > 0 && !__builtin_add_overflow(by_ms, model_now_ms(call->model), end_ms))
        return true;
    reply_error(call->out, "ERR invalid expire time in 'set' command");
    return false;
}

static void set(struct call *call)
{
    bool if_absent = false, has_end = false;
    int64_t end_ms = 0;
    struct key *key;

    for (size_t i = 3; i < call->argc; i++)
        if (bytes_is(call->argv[i], "NX")) {
            if_absent = true;
        } else if (bytes_is(call->argv[i], "PX") && !has_end && i + 1 < call->argc) {
            if (!end_in(call, ++i, &end_ms))
                return;
            has_end = true;
        } else {
            reply_error(call->out, "ERR syntax error");
            return;
        }
    if (if_absent && exists(call, call->argv[1])) {
        reply_nil(call->out);
        return;
    }
    key = store(call, call->argv[1], call->argv[2]);
    key->has_end = has_end;
    key->end_ms = end_ms;
    reply_status(call->out, "OK");
}

static void setnx(struct call *call)
{
    bool is_there = exists(call, call->argv[1]);

    if (!is_there)
        (void)store(call, call->argv[1], call->argv[2]);
    reply_integer(call->out, !is_there);
}

static void get(struct call *call)
{
    struct key *key;

    if (!model_find(call, call->argv[1], STRING, &key))
        return;
    if (key == NULL)
        reply_nil(call->out);
    else
        reply_bulk(call->out, key->string);
}

static void getset(struct call *call)
{
    struct key *key;

    if (!model_find(call, call->argv[1], STRING, &key))
        return;
    if (key == NULL)
        reply_nil(call->out);
    else
        reply_bulk(call->out, key->string);
    (void)store(call, call->argv[1], call->argv[2]);
}

static void add(struct call *call, int64_t by)
{
    struct key *key;
    int64_t number = 0;
    char text[24];
    int len;

    if (!model_find(call, call->argv[1], STRING, &key))
        return;
    if (key != NULL && !bytes_number(key->string, &number)) {
        reply_error(call->out, "ERR value is not an integer or out of range");
        return;
    }
    if ((by < 0 && number < INT64_MIN - by) || (by > 0 && number > INT64_MAX - by)) {
        reply_error(call->out, "ERR increment or decrement would overflow");
        return;
    }
    number += by;
    len = snprintf(text, sizeof(text), "%lld", (long long)number);
    if (key == NULL)
        (void)store(call, call->argv[1], (struct bytes){text, (size_t)len});
    else
        key_set_string(key, (struct bytes){text, (size_t)len});
    model_touch(call->model, call->argv[1]);
    reply_integer(call->out, number);
}

static void incr(struct call *call)
{
    add(call, 1);
}

static void decr(struct call *call)
{
    add(call, -1);
}

static void incrby(struct call *call)
{
    int64_t by;

    if (model_number(call, 2, &by))
        add(call, by);
}

static void decrby(struct call *call)
{
    int64_t by;

    if (!model_number(call, 2, &by))
        return;
    if (by == INT64_MIN)
        reply_error(call->out, "ERR decrement would overflow");
    else
        add(call, -by);
}

const struct command model_string_commands[] = {
    {"SET", set, -3, true, true},       {"SETNX", setnx, 3, true, true},
    {"GET", get, 2, false, true},       {"GETSET", getset, 3, true, true},
    {"INCR", incr, 2, true, true},      {"DECR", decr, 2, true, true},
    {"INCRBY", incrby, 3, true, true},  {"DECRBY", decrby, 3, true, true},
    {NULL, NULL, 0, false, false},
};

/* ---- all keys ---- */

static void del(struct call *call)
{
    int64_t count = 0;

    for (size_t i = 1; i < call->argc; i++)
        if (exists(call, call->argv[i]) && keys_remove(&call->model->keys, call->argv[i])) {
            model_touch(call->model, call->argv[i]);
            count++;
        }
    reply_integer(call->out, count);
}

static void exists_all(struct call *call)
{
    int64_t count = 0;

    for (size_t i = 1; i < call->argc; i++)
        count += exists(call, call->argv[i]);
    reply_integer(call->out, count);
}

static void pexpire(struct call *call)
{
    int64_t now_ms = model_now_ms(call->model);
    struct key *key;
    int64_t by_ms, end_ms;

    if (!model_number(call, 2, &by_ms))
        return;
    if (__builtin_add_overflow(now_ms, by_ms, &end_ms)) {
        reply_error(call->out, "ERR invalid expire time in 'pexpire' command");
        return;
    }
    key = keys_find(&call->model->keys, call->argv[1], now_ms);
    reply_integer(call->out, key != NULL);
    if (key == NULL)
        return;
    key->has_end = true;
    key->end_ms = end_ms;
    if (end_ms <= now_ms)
        (void)keys_remove(&call->model->keys, call->argv[1]);
    model_touch(call->model, call->argv[1]);
}

static void pttl(struct call *call)
{
    int64_t now_ms = model_now_ms(call->model);
    const struct key *key = keys_find(&call->model->keys, call->argv[1], now_ms);

    reply_integer(call->out, key == NULL      ? -2
                             : !key->has_end ? -1
                                             : key->end_ms - now_ms);
}

static void tell_time(struct call *call)
{
    int64_t now_us = call->model->now_us(call->model);
    char text[24];

    reply_array(call->out, 2);
    (void)snprintf(text, sizeof(text), "%lld", (long long)(now_us / 1000000));
    reply_text(call->out, text);
    (void)snprintf(text, sizeof(text), "%lld", (long long)(now_us % 1000000));
    reply_text(call->out, text);
}

const struct command model_key_commands[] = {
    {"DEL", del, -2, false, true},       {"EXISTS", exists_all, -2, false, true},
    {"PEXPIRE", pexpire, 3, false, true}, {"PTTL", pttl, 2, false, true},
    {"TIME", tell_time, 1, false, true},
    {NULL, NULL, 0, false, false},
};
