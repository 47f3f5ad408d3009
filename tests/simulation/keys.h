/* SPDX-License-Identifier: MIT */
/* keys.h -- the keys of a model of Redis, with their values and their expiry; byte buffers that
 * grow, and functions that write replies of Redis (RESP2) into them.
 *
 * Hashes and lists keep the order in which their parts came, as small hashes and lists of Redis do;
 * sorted sets are in the order of score and member. */
#ifndef SIMULATION_KEYS_H
#define SIMULATION_KEYS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* ---- bytes and replies ---- */

/* Bytes; the declaration of each variable says who owns them. */
struct bytes {
    char *at;
    size_t len;
};

struct buffer {
    char *at;
    size_t len, room;
};

void buffer_add(struct buffer *buffer, const char *bytes, size_t len);
void buffer_take(struct buffer *buffer, size_t len); /* remove `len` bytes from the beginning */
void buffer_free(struct buffer *buffer);

struct bytes bytes_copy(struct bytes from); /* free with free(at) */
bool bytes_equal(struct bytes a, struct bytes b);
bool bytes_is(struct bytes a, const char *text); /* ignoring case */
bool bytes_number(struct bytes a, int64_t *out);
#define BYTES(text) ((struct bytes){(char *)(uintptr_t)(text), sizeof(text) - 1})

void reply_status(struct buffer *out, const char *text);
void reply_error(struct buffer *out, const char *text); /* with its code at the beginning */
void reply_integer(struct buffer *out, int64_t number);
void reply_bulk(struct buffer *out, struct bytes bytes);
void reply_text(struct buffer *out, const char *text);
void reply_double(struct buffer *out, double number);
void reply_nil(struct buffer *out);
void reply_nil_array(struct buffer *out);
void reply_array(struct buffer *out, int64_t count); /* the caller adds its parts */

/* ---- keys ---- */

enum kind { STRING, HASH, LIST, SORTED };

/* A field and its value, an element of a list, or a member and its score. */
struct part {
    struct bytes name;
    struct bytes value;
    double score;
};

struct key {
    struct bytes name;
    enum kind kind;
    bool has_end;
    int64_t end_ms; /* the key has expired when the server's clock is later */
    struct bytes string;
    struct part *parts;
    size_t count, room;
    struct key *next;
};

/* All keys of a server. */
struct keys {
    struct key *first;
    /* Called for a key that has expired and is removed. NULL: not called. */
    void (*ended)(struct keys *keys, struct bytes name);
};

/* A planted difference from Redis, to test whether beside.c finds it. */
enum plant { PLANT_NONE, PLANT_LATE_END, PLANT_TIES, PLANT_LREM };
extern enum plant keys_planted;

struct key *keys_find(struct keys *keys, struct bytes name, int64_t now_ms);
struct key *keys_add(struct keys *keys, struct bytes name, enum kind kind); /* the key is new */
bool keys_remove(struct keys *keys, struct bytes name);
void keys_clear(struct keys *keys);
void keys_copy(struct keys *to, const struct keys *from); /* `to` was empty */

void key_set_string(struct key *key, struct bytes value);

/* The index of a part; `count` if there is none. */
size_t key_find(const struct key *key, struct bytes name);
void key_insert(struct key *key, size_t at, struct bytes name, struct bytes value,
                double score);
void key_remove(struct key *key, size_t at);

/* The index at which a member of that score belongs. */
size_t key_rank(const struct key *key, struct bytes name, double score);

#endif /* SIMULATION_KEYS_H */
