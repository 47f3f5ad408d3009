/* SPDX-License-Identifier: MIT */
/* etcd_answers.c -- parses etcd's answers about the keys of a lock. */
#include "lock/stores/etcd_answers.h"

#include <string.h>

bool etcd_answer_revision(const json_t *json, uint64_t *out)
{
    int64_t revision;

    if (!etcd_number(json_object_get(json, "header"), "revision", 1, &revision) || revision < 1)
        return false;
    *out = (uint64_t)revision;
    return true;
}

const json_t *etcd_answer_part(const json_t *json, size_t nth, const char *kind)
{
    return json_object_get(json_array_get(json_object_get(json, "responses"), nth), kind);
}

bool etcd_answer_keys(const json_t *range, const json_t **out)
{
    *out = json_object_get(range, "kvs");
    return json_is_object(range) && (*out == NULL || json_is_array(*out));
}

int64_t etcd_answer_count(const json_t *range)
{
    size_t shown_count = json_array_size(json_object_get(range, "kvs"));
    int64_t count;

    if (!etcd_number(range, "count", 0, &count) || (uint64_t)count < shown_count)
        return -1;
    return count;
}

enum etcd_kind etcd_answer_key(const json_t *entry, const char *name, struct etcd_key *out)
{
    const json_t *text = json_object_get(entry, "key");
    int64_t created;

    if (!json_is_string(text) || !etcd_number(entry, "create_revision", 1, &created) ||
        created < 1)
        return ETCD_NO_KEY;
    *out = (struct etcd_key){.name = name, .created = (uint64_t)created};
    return etcd_key_read(json_string_value(text), name, &out->lease) ? ETCD_OF_THE_LOCK
                                                                     : ETCD_OF_ANOTHER;
}

bool etcd_answer_one(const json_t *range, const char *name, struct etcd_key *out,
                     enum etcd_kind *kind)
{
    const json_t *found_keys;

    *kind = ETCD_NO_KEY;
    if (!etcd_answer_keys(range, &found_keys))
        return false;
    if (json_array_size(found_keys) == 0)
        return true;
    *kind = etcd_answer_key(json_array_get(found_keys, 0), name, out);
    return *kind != ETCD_NO_KEY && json_array_size(found_keys) == 1;
}

bool etcd_answer_owner(const json_t *entry, char owner[DLOCK_OWNER_MAX + 1])
{
    const json_t *value = json_object_get(entry, "value");
    size_t len = 0;

    memset(owner, 0, DLOCK_OWNER_MAX + 1);
    if (value == NULL)
        return true;
    if (!json_is_string(value))
        return false;
    if (!etcd_base64_read(json_string_value(value), owner, DLOCK_OWNER_MAX, &len))
        owner[0] = '\0'; /* no text of ours */
    return true;
}
