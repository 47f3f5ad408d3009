/* SPDX-License-Identifier: MIT */
/* etcd_keys.c -- the keys of a lock in etcd: putting one, finding its place in the
 * queue, deleting it.
 *
 * A comparison must name its `target`: without it etcd compares the version, without an
 * error. */
#include "lock/stores/etcd_keys.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lock/stores/etcd_txns.h"

/* The longest transaction has three keys, two prefixes with their ends, and two values. */
enum { BODY_SIZE = 4096 };

#define BY_AGE(order, limit)                                                           \
    "\"sort_target\":\"CREATE\",\"sort_order\":\"" order "\",\"keys_only\":true,"      \
    "\"limit\":\"" limit "\""

/* The condition of a transaction: a key has this create revision. */
#define IF_THERE                                                                       \
    "\"compare\":[{\"key\":\"%s\",\"target\":\"CREATE\",\"result\":\"EQUAL\","          \
    "\"create_revision\":\"%" PRIu64 "\"}]"

struct etcd_keys {
    struct etcd_http *http;
    struct etcd_txns *txns;
};

struct etcd_keys *etcd_keys_open(struct etcd_http *http)
{
    struct etcd_keys *keys = calloc(1, sizeof(*keys));

    if (keys == NULL)
        return NULL;
    keys->http = http;
    keys->txns = etcd_txns_open(http);
    if (keys->txns != NULL)
        return keys;
    free(keys);
    return NULL;
}

void etcd_keys_close(struct etcd_keys *keys)
{
    if (keys == NULL)
        return;
    etcd_txns_close(keys->txns);
    free(keys);
}

static dlock_status refuse(const char *what)
{
    return dlock_fail(DLOCK_PROTOCOL, "etcd: an answer that %s cannot have", what);
}

/* --- all keys --- */

/* Read all keys with the prefix of the lock, the oldest first.  OK: the caller frees
 * *reply. */
static dlock_status list(struct etcd_keys *keys, const char *name, bool with_values,
                         int64_t give_up_ns, struct etcd_reply *reply, const json_t **found_keys)
{
    struct etcd_range range = etcd_range_of(name);
    char body[BODY_SIZE];
    struct etcd_request request = {"/v3/kv/range", body, give_up_ns, false, false};
    dlock_status st;

    snprintf(body, sizeof(body),
             "{\"key\":\"%s\",\"range_end\":\"%s\",\"sort_target\":\"CREATE\","
             "\"sort_order\":\"ASCEND\",\"keys_only\":%s}",
             range.from, range.to, with_values ? "false" : "true");
    st = etcd_http_ask(keys->http, &request, reply);
    if (st != DLOCK_OK)
        return st;
    if (reply->error == ETCD_DONE && etcd_answer_keys(reply->json, found_keys))
        return DLOCK_OK;
    json_decref(reply->json);
    return refuse("kv/range");
}

/* Find the place of the key among all keys of the prefix.  Needed if keys of other
 * locks have this prefix, because the short requests read only one or two keys. */
static dlock_status look_at_all(struct etcd_keys *keys, const struct etcd_key *key,
                                int64_t give_up_ns, struct etcd_sight *out)
{
    struct etcd_reply reply;
    const json_t *found_keys;
    struct etcd_key other;
    dlock_status st = list(keys, key->name, false, give_up_ns, &reply, &found_keys);

    if (st != DLOCK_OK)
        return st;
    *out = (struct etcd_sight){.created = 0};
    if (!etcd_answer_revision(reply.json, &out->revision))
        st = refuse("kv/range");
    for (size_t i = 0; st == DLOCK_OK && i < json_array_size(found_keys) && out->created == 0;
         i++) {
        enum etcd_kind kind = etcd_answer_key(json_array_get(found_keys, i), key->name, &other);

        if (kind == ETCD_NO_KEY) {
            st = refuse("kv/range");
        } else if (kind == ETCD_OF_THE_LOCK && other.lease == key->lease) {
            out->created = other.created;
        } else if (kind == ETCD_OF_THE_LOCK) {
            out->before = other.lease;
            out->ahead++;
        }
    }
    json_decref(reply.json);
    return st;
}

dlock_status etcd_keys_list(struct etcd_keys *keys, const char *name,
                            struct etcd_listed *first, int *count)
{
    struct etcd_reply reply;
    const json_t *found_keys;
    dlock_status st = list(keys, name, true, INT64_MAX, &reply, &found_keys);

    *count = 0;
    if (st != DLOCK_OK)
        return st;
    for (size_t i = 0; st == DLOCK_OK && i < json_array_size(found_keys); i++) {
        const json_t *entry = json_array_get(found_keys, i);
        struct etcd_key key;
        enum etcd_kind kind = etcd_answer_key(entry, name, &key);

        if (kind == ETCD_NO_KEY || (kind == ETCD_OF_THE_LOCK && *count == 0 &&
                               !etcd_answer_owner(entry, first->owner)))
            st = refuse("kv/range");
        if (kind == ETCD_OF_THE_LOCK && (*count)++ == 0) {
            first->lease = key.lease;
            first->created = key.created;
        }
    }
    json_decref(reply.json);
    return st;
}

/* --- one key --- */

/* Read the answer to a transaction that put the key: it has the two youngest keys,
 * which are this key and the key before it. */
static dlock_status read_place(struct etcd_keys *keys, const struct etcd_key *key,
                               const json_t *range, int64_t give_up_ns, struct etcd_sight *out)
{
    struct etcd_key own = {.lease = 0}, other = {.lease = 0};
    const json_t *found_keys;
    size_t count;
    int64_t all;

    if (!etcd_answer_keys(range, &found_keys))
        return refuse("kv/txn");
    count = json_array_size(found_keys);
    if (etcd_answer_key(json_array_get(found_keys, 0), key->name, &own) != ETCD_OF_THE_LOCK ||
        own.lease != key->lease || count > 2 ||
        (count == 2 &&
         etcd_answer_key(json_array_get(found_keys, 1), key->name, &other) != ETCD_OF_THE_LOCK))
        return look_at_all(keys, key, give_up_ns, out);
    out->created = own.created;
    out->before = other.lease;
    all = etcd_answer_count(range); /* the count includes keys of other locks */
    out->ahead = all > 0 ? all - 1 : -1;
    return DLOCK_OK;
}

/* Read the answer to a transaction that did not put the key: it has the oldest key. */
static dlock_status read_holder(struct etcd_keys *keys, const struct etcd_key *key,
                                const json_t *range, int64_t give_up_ns,
                                struct etcd_sight *out)
{
    struct etcd_key found;
    enum etcd_kind kind;

    if (!etcd_answer_one(range, key->name, &found, &kind) || kind == ETCD_NO_KEY)
        return refuse("kv/txn");
    if (kind == ETCD_OF_ANOTHER)
        return look_at_all(keys, key, give_up_ns, out);
    if (found.lease == key->lease)
        out->created = found.created; /* a copy of the request has put it */
    else
        out->before = found.lease;
    return DLOCK_OK;
}

/* Write a transaction that puts the key, and reads it and the key before it.  If the
 * claim does not wait, the transaction puts the key only if there is no key, and
 * otherwise reads the oldest key. */
static void describe_put(char body[BODY_SIZE], const struct etcd_key *key, const char *owner,
                         bool waits)
{
    struct etcd_range range = etcd_range_of(key->name);
    char text[ETCD_KEY_SIZE], value[ETCD_VALUE_SIZE], put[BODY_SIZE / 4];

    etcd_key_of(text, key->name, key->lease);
    etcd_base64(value, owner, strlen(owner));
    snprintf(put, sizeof(put),
             "{\"request_put\":{\"key\":\"%s\",\"value\":\"%s\",\"lease\":\"%" PRIu64 "\"}}", text,
             value, key->lease);
    if (waits)
        snprintf(body, BODY_SIZE,
                 "{\"success\":[%s,{\"request_range\":{\"key\":\"%s\",\"range_end\":\"%s\",%s}}]}",
                 put, range.from, range.to, BY_AGE("DESCEND", "2"));
    else
        snprintf(body, BODY_SIZE,
                 "{\"compare\":[{\"key\":\"%s\",\"range_end\":\"%s\",\"target\":\"CREATE\","
                 "\"result\":\"EQUAL\",\"create_revision\":\"0\"}],\"success\":[%s],"
                 "\"failure\":[{\"request_range\":{\"key\":\"%s\",\"range_end\":\"%s\",%s}}]}",
                 range.from, range.to, put, range.from, range.to, BY_AGE("ASCEND", "1"));
}

dlock_status etcd_key_put(struct etcd_keys *keys, const struct etcd_key *key,
                          const char *owner, bool waits, int64_t give_up_ns,
                          struct etcd_sight *out, bool *was_repeated)
{
    struct etcd_reply reply;
    char body[BODY_SIZE];
    dlock_status st;

    describe_put(body, key, owner, waits);
    *out = (struct etcd_sight){.created = 0};
    st = etcd_txn_ask(keys->txns, key->name, body, give_up_ns, &reply);
    *was_repeated = reply.was_repeated;
    if (st != DLOCK_OK)
        return st;
    if (reply.error == ETCD_NOT_FOUND)
        st = DLOCK_LOST;
    else if (reply.error != ETCD_DONE || !etcd_answer_revision(reply.json, &out->revision))
        st = refuse("kv/txn");
    else if (waits)
        st = read_place(keys, key, etcd_answer_part(reply.json, 1, "response_range"),
                        give_up_ns, out);
    else if (json_is_true(json_object_get(reply.json, "succeeded")))
        out->created = out->revision;
    else
        st = read_holder(keys, key, etcd_answer_part(reply.json, 0, "response_range"),
                         give_up_ns, out);
    json_decref(reply.json);
    return st;
}

/* Run a transaction on one key, on the condition that its create revision is
 * key->created. */
static dlock_status ask_of(struct etcd_keys *keys, const struct etcd_key *key,
                           const char *operations, int64_t give_up_ns,
                           struct etcd_reply *reply)
{
    char text[ETCD_KEY_SIZE], body[BODY_SIZE];
    dlock_status st;

    etcd_key_of(text, key->name, key->lease);
    snprintf(body, sizeof(body),
             "{" IF_THERE ",\"success\":[%s]}", text, key->created, operations);
    st = etcd_txn_ask(keys->txns, key->name, body, give_up_ns, reply);
    if (st == DLOCK_OK && reply->error != ETCD_DONE) {
        json_decref(reply->json);
        st = refuse("kv/txn");
    }
    return st;
}

dlock_status etcd_key_look(struct etcd_keys *keys, const struct etcd_key *key,
                           int64_t give_up_ns, struct etcd_sight *out)
{
    struct etcd_range range = etcd_range_of(key->name);
    struct etcd_key other = {.lease = 0};
    char operation[BODY_SIZE / 2];
    struct etcd_reply reply;
    enum etcd_kind kind = ETCD_NO_KEY;
    dlock_status st;

    *out = (struct etcd_sight){.created = 0};
    snprintf(operation, sizeof(operation),
             "{\"request_range\":{\"key\":\"%s\",\"range_end\":\"%s\","
             "\"max_create_revision\":\"%" PRIu64 "\"," BY_AGE("DESCEND", "1") "}}",
             range.from, range.to, key->created - 1);
    st = ask_of(keys, key, operation, give_up_ns, &reply);
    if (st != DLOCK_OK)
        return st;
    if (!etcd_answer_revision(reply.json, &out->revision)) {
        st = refuse("kv/txn");
    } else if (json_is_true(json_object_get(reply.json, "succeeded"))) {
        out->created = key->created;
        out->ahead = -1; /* the count of such a range is that of the whole prefix */
        if (!etcd_answer_one(etcd_answer_part(reply.json, 0, "response_range"), key->name,
                             &other, &kind))
            st = refuse("kv/txn");
        else if (kind == ETCD_OF_ANOTHER)
            st = look_at_all(keys, key, give_up_ns, out);
        else
            out->before = other.lease;
    }
    json_decref(reply.json);
    return st;
}

/* Read the answer to a deletion, which may also have the oldest key that is left. */
static dlock_status read_parting(const struct etcd_reply *reply, const char *name, bool looks,
                                 struct etcd_parting *out)
{
    struct etcd_key first = {.lease = 0};
    enum etcd_kind kind;

    if (!json_is_true(json_object_get(reply->json, "succeeded")))
        return reply->was_repeated
                   ? dlock_fail(DLOCK_UNKNOWN, "etcd: the connection was cut, and an earlier "
                                               "copy may have deleted the key")
                   : DLOCK_LOST;
    if (!looks)
        return DLOCK_OK;
    if (!etcd_answer_one(etcd_answer_part(reply->json, 1, "response_range"), name, &first, &kind))
        return refuse("kv/txn");
    if (kind == ETCD_OF_THE_LOCK)
        out->first_created = first.created;
    return DLOCK_OK;
}

dlock_status etcd_keys_exist(struct etcd_keys *keys, const struct etcd_key *all, size_t count,
                             int64_t give_up_ns, bool *exist)
{
    enum { PART_SIZE = ETCD_KEY_SIZE + 128 };
    size_t size = (count + 1) * PART_SIZE, len;
    char *body = malloc(size), text[ETCD_KEY_SIZE];
    struct etcd_request request = {"/v3/kv/txn", body, give_up_ns, false, false};
    struct etcd_reply reply;
    dlock_status st;

    if (body == NULL)
        return dlock_fail(DLOCK_NOMEM, "no memory for a request to etcd");
    len = (size_t)snprintf(body, size, "{\"success\":[");
    for (size_t i = 0; i < count; i++) {
        etcd_key_of(text, all[i].name, all[i].lease);
        len += (size_t)snprintf(body + len, size - len, "%s{\"request_txn\":{" IF_THERE "}}",
                                i > 0 ? "," : "", text, all[i].created);
    }
    snprintf(body + len, size - len, "]}");
    st = etcd_http_ask(keys->http, &request, &reply);
    free(body);
    if (st != DLOCK_OK)
        return st;
    for (size_t i = 0; i < count && st == DLOCK_OK; i++) {
        const json_t *part = etcd_answer_part(reply.json, i, "response_txn");

        exist[i] = json_is_true(json_object_get(part, "succeeded"));
        if (reply.error != ETCD_DONE || !json_is_object(part))
            st = refuse("kv/txn");
    }
    json_decref(reply.json);
    return st;
}

dlock_status etcd_key_delete(struct etcd_keys *keys, const struct etcd_key *key, bool looks,
                             int64_t give_up_ns, struct etcd_parting *out)
{
    struct etcd_range range = etcd_range_of(key->name);
    char text[ETCD_KEY_SIZE], operations[BODY_SIZE / 2];
    struct etcd_reply reply;
    dlock_status st;
    int len;

    *out = (struct etcd_parting){.revision = 0};
    etcd_key_of(text, key->name, key->lease);
    len = snprintf(operations, sizeof(operations),
                   "{\"request_delete_range\":{\"key\":\"%s\"}}", text);
    if (looks)
        snprintf(operations + len, sizeof(operations) - (size_t)len,
                 ",{\"request_range\":{\"key\":\"%s\",\"range_end\":\"%s\",%s}}", range.from,
                 range.to, BY_AGE("ASCEND", "1"));
    st = ask_of(keys, key, operations, give_up_ns, &reply);
    if (st != DLOCK_OK)
        return st;
    st = etcd_answer_revision(reply.json, &out->revision)
             ? read_parting(&reply, key->name, looks, out)
             : refuse("kv/txn");
    json_decref(reply.json);
    return st;
}

dlock_status etcd_keys_check(struct etcd_keys *keys)
{
    /* Read any key: a read needs a majority of the members. etcd checks the user's
     * right to the key only after that. */
    struct etcd_request request = {"/v3/kv/range", "{\"key\":\"AA==\",\"count_only\":true}",
                                   INT64_MAX, true, false};
    struct etcd_reply reply;
    const json_t *found_keys;
    dlock_status st = etcd_http_ask(keys->http, &request, &reply);

    if (st != DLOCK_OK)
        return st == DLOCK_UNKNOWN ? DLOCK_IO : st;
    if (reply.error != ETCD_DENIED &&
        (reply.error != ETCD_DONE || !etcd_answer_keys(reply.json, &found_keys)))
        st = refuse("kv/range");
    json_decref(reply.json);
    return st;
}
