/* SPDX-License-Identifier: MIT */
/* keys.c -- keys in a list, since a simulated server has few keys. */
#include "tests/simulation/keys.h"

#include <stdlib.h>
#include <string.h>

static void free_key(struct key *key)
{
    for (size_t i = 0; i < key->count; i++) {
        free(key->parts[i].name.at);
        free(key->parts[i].value.at);
    }
    free(key->parts);
    free(key->string.at);
    free(key->name.at);
    free(key);
}

enum plant keys_planted;

struct key *keys_find(struct keys *keys, struct bytes name, int64_t now_ms)
{
    for (struct key **at = &keys->first; *at != NULL; at = &(*at)->next) {
        struct key *key = *at;

        if (!bytes_equal(key->name, name))
            continue;
        if (!key->has_end || now_ms <= key->end_ms + (keys_planted == PLANT_LATE_END))
            return key;
        *at = key->next;
        if (keys->ended != NULL)
            keys->ended(keys, key->name);
        free_key(key);
        return NULL;
    }
    return NULL;
}

struct key *keys_add(struct keys *keys, struct bytes name, enum kind kind)
{
    struct key *key = calloc(1, sizeof(*key));

    if (key == NULL)
        abort();
    key->name = bytes_copy(name);
    key->kind = kind;
    key->next = keys->first;
    keys->first = key;
    return key;
}

bool keys_remove(struct keys *keys, struct bytes name)
{
    for (struct key **at = &keys->first; *at != NULL; at = &(*at)->next)
        if (bytes_equal((*at)->name, name)) {
            struct key *key = *at;

            *at = key->next;
            free_key(key);
            return true;
        }
    return false;
}

void keys_clear(struct keys *keys)
{
    while (keys->first != NULL) {
        struct key *key = keys->first;

        keys->first = key->next;
        free_key(key);
    }
}

void keys_copy(struct keys *to, const struct keys *from)
{
    for (const struct key *key = from->first; key != NULL; key = key->next) {
        struct key *copy = keys_add(to, key->name, key->kind);

        copy->has_end = key->has_end;
        copy->end_ms = key->end_ms;
        if (key->string.at != NULL)
            copy->string = bytes_copy(key->string);
        for (size_t i = 0; i < key->count; i++)
            key_insert(copy, i, key->parts[i].name, key->parts[i].value,
                       key->parts[i].score);
    }
}

void key_set_string(struct key *key, struct bytes value)
{
    struct bytes copy = bytes_copy(value); /* `value` may be the old value, which is freed below */

    free(key->string.at);
    key->string = copy;
}

size_t key_find(const struct key *key, struct bytes name)
{
    size_t at = 0;

    while (at < key->count && !bytes_equal(key->parts[at].name, name))
        at++;
    return at;
}

void key_insert(struct key *key, size_t at, struct bytes name, struct bytes value,
                double score)
{
    struct part part = {bytes_copy(name), {0}, score};

    if (value.at != NULL)
        part.value = bytes_copy(value);
    if (key->count == key->room) {
        key->room = key->room == 0 ? 4 : key->room * 2;
        key->parts = realloc(key->parts, key->room * sizeof(*key->parts));
        if (key->parts == NULL)
            abort();
    }
    memmove(key->parts + at + 1, key->parts + at, (key->count - at) * sizeof(*key->parts));
    key->parts[at] = part;
    key->count++;
}

void key_remove(struct key *key, size_t at)
{
    free(key->parts[at].name.at);
    free(key->parts[at].value.at);
    key->count--;
    memmove(key->parts + at, key->parts + at + 1, (key->count - at) * sizeof(*key->parts));
}

size_t key_rank(const struct key *key, struct bytes name, double score)
{
    size_t at = 0;

    while (at < key->count &&
           (key->parts[at].score < score ||
            (key->parts[at].score == score &&
             (keys_planted == PLANT_TIES || bytes_compare(key->parts[at].name, name) < 0))))
        at++;
    return at;
}
