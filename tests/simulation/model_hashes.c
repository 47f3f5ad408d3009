/* SPDX-License-Identifier: MIT */
/* model_hashes.c -- hashes and lists. */
#include <stdio.h>

#include "tests/simulation/model.h"

static struct key *made(struct call *call, struct key *key, enum kind kind)
{
    return key != NULL ? key : keys_add(&call->model->keys, call->argv[1], kind);
}

static void set_field(struct key *key, struct bytes field, struct bytes value)
{
    size_t at = key_find(key, field);

    if (at < key->count)
        key_remove(key, at);
    key_insert(key, at, field, value, 0);
}

static void hset(struct call *call)
{
    struct key *key;
    int64_t added = 0;

    if (call->argc % 2 != 0) {
        reply_error(call->out, "ERR wrong number of arguments for 'hset' command");
        return;
    }
    if (!model_find(call, call->argv[1], HASH, &key))
        return;
    key = made(call, key, HASH);
    for (size_t i = 2; i < call->argc; i += 2) {
        added += key_find(key, call->argv[i]) == key->count;
        set_field(key, call->argv[i], call->argv[i + 1]);
    }
    model_touch(call->model, call->argv[1]);
    reply_integer(call->out, added);
}

static void reply_field(struct call *call, const struct key *key, struct bytes field)
{
    size_t at = key != NULL ? key_find(key, field) : 0;

    if (key == NULL || at == key->count)
        reply_nil(call->out);
    else
        reply_bulk(call->out, key->parts[at].value);
}

static void hget(struct call *call)
{
    struct key *key;

    if (model_find(call, call->argv[1], HASH, &key))
        reply_field(call, key, call->argv[2]);
}

static void hgetall(struct call *call)
{
    struct key *key;

    if (!model_find(call, call->argv[1], HASH, &key))
        return;
    reply_array(call->out, key != NULL ? (int64_t)key->count * 2 : 0);
    for (size_t i = 0; key != NULL && i < key->count; i++) {
        reply_bulk(call->out, key->parts[i].name);
        reply_bulk(call->out, key->parts[i].value);
    }
}

static void hexists(struct call *call)
{
    struct key *key;

    if (model_find(call, call->argv[1], HASH, &key))
        reply_integer(call->out, key != NULL && key_find(key, call->argv[2]) < key->count);
}

static void hdel(struct call *call)
{
    model_remove_parts(call, HASH);
}

static void hincrby(struct call *call)
{
    struct key *key;
    int64_t by, number = 0;
    char text[24];
    size_t at;
    int len;

    if (!model_number(call, 3, &by) || !model_find(call, call->argv[1], HASH, &key))
        return;
    at = key != NULL ? key_find(key, call->argv[2]) : 0;
    if (key != NULL && at < key->count && !bytes_number(key->parts[at].value, &number)) {
        reply_error(call->out, "ERR hash value is not an integer");
        return;
    }
    if ((by < 0 && number < INT64_MIN - by) || (by > 0 && number > INT64_MAX - by)) {
        reply_error(call->out, "ERR increment or decrement would overflow");
        return;
    }
    len = snprintf(text, sizeof(text), "%lld", (long long)(number + by));
    set_field(made(call, key, HASH), call->argv[2], (struct bytes){text, (size_t)len});
    model_touch(call->model, call->argv[1]);
    reply_integer(call->out, number + by);
}

const struct command model_hash_commands[] = {
    {"HSET", hset, -4, true, true},       {"HGET", hget, 3, false, true},
    {"HGETALL", hgetall, 2, false, true}, {"HEXISTS", hexists, 3, false, true},
    {"HDEL", hdel, -3, false, true},      {"HINCRBY", hincrby, 4, true, true},
    {NULL, NULL, 0, false, false},
};

/* ---- lists ---- */

static void rpush(struct call *call)
{
    struct key *key;

    if (!model_find(call, call->argv[1], LIST, &key))
        return;
    key = made(call, key, LIST);
    for (size_t i = 2; i < call->argc; i++)
        key_insert(key, key->count, call->argv[i], (struct bytes){0}, 0);
    model_touch(call->model, call->argv[1]);
    reply_integer(call->out, (int64_t)key->count);
}

static void lpop(struct call *call)
{
    struct key *key;

    if (!model_find(call, call->argv[1], LIST, &key))
        return;
    if (key == NULL) {
        reply_nil(call->out);
        return;
    }
    reply_bulk(call->out, key->parts[0].name);
    key_remove(key, 0);
    model_touch(call->model, call->argv[1]);
    model_shrink(call, key);
}

static void lindex(struct call *call)
{
    struct key *key;
    int64_t at;

    if (!model_find(call, call->argv[1], LIST, &key))
        return;
    if (key == NULL) {
        reply_nil(call->out);
        return;
    }
    if (!model_number(call, 2, &at))
        return;
    if (at < 0)
        at += (int64_t)key->count;
    if (at < 0 || at >= (int64_t)key->count)
        reply_nil(call->out);
    else
        reply_bulk(call->out, key->parts[at].name);
}

static void lrange(struct call *call)
{
    struct span span;

    if (!model_find_span(call, LIST, &span))
        return;
    reply_array(call->out, span.count);
    for (int64_t i = 0; i < span.count; i++)
        reply_bulk(call->out, span.key->parts[span.from + i].name);
}

/* A count of 0 removes all; a negative count removes from the end. */
static void lrem(struct call *call)
{
    struct key *key;
    int64_t most, count = 0;
    size_t at;

    if (!model_number(call, 2, &most) || !model_find(call, call->argv[1], LIST, &key))
        return;
    if (key != NULL && most >= 0)
        for (at = 0; at < key->count && (most == 0 || count < most);)
            if (bytes_equal(key->parts[at].name, call->argv[3]))
                key_remove(key, at), count++;
            else
                at++;
    else if (key != NULL && keys_planted != PLANT_LREM)
        for (at = key->count; at > 0 && count < -most; at--)
            if (bytes_equal(key->parts[at - 1].name, call->argv[3]))
                key_remove(key, at - 1), count++;
    if (count > 0) {
        model_touch(call->model, call->argv[1]);
        model_shrink(call, key);
    }
    reply_integer(call->out, count);
}

const struct command model_list_commands[] = {
    {"RPUSH", rpush, -3, true, true},   {"LPOP", lpop, 2, false, true},
    {"LINDEX", lindex, 3, false, true}, {"LRANGE", lrange, 4, false, true},
    {"LREM", lrem, 4, false, true},
    {NULL, NULL, 0, false, false},
};
