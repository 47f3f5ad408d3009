/* SPDX-License-Identifier: MIT */
/* etcd_text.h -- base64, keys and numbers, as etcd's JSON writes them.
 *
 * The keys of the lock NAME have the prefix "NAME/".  Each holder or waiter has one
 * key, "NAME/LEASE", where LEASE is the number of the key's lease in hexadecimal
 * digits. etcd's own recipe uses the same keys, so `etcdctl lock NAME` stands in the
 * same queue.  A key with another ending belongs to another lock (the keys of "a/b"
 * begin with "a/", too) or to no lock.
 *
 * Threads     Any. */
#ifndef DLOCK_ETCD_TEXT_H
#define DLOCK_ETCD_TEXT_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lock/dlock.h"

/* The size of `len` bytes in base64, with a NUL. */
#define ETCD_BASE64_SIZE(len) (((len) + 2) / 3 * 4 + 1)

enum {
    ETCD_LEASE_DIGITS_MAX = 16,
    ETCD_KEY_MAX = DLOCK_NAME_MAX + 1 + ETCD_LEASE_DIGITS_MAX,
    ETCD_KEY_SIZE = ETCD_BASE64_SIZE(ETCD_KEY_MAX),
    ETCD_PREFIX_SIZE = ETCD_BASE64_SIZE(DLOCK_NAME_MAX + 1),
    ETCD_VALUE_SIZE = ETCD_BASE64_SIZE(DLOCK_OWNER_MAX),
};

/* The range of all keys of a lock: `from` is the first, and `to` the first after them;
 * both in base64. */
struct etcd_range {
    char from[ETCD_PREFIX_SIZE];
    char to[ETCD_PREFIX_SIZE];
};

struct etcd_range etcd_range_of(const char *name);

/* Write the key of the lock `name` with this lease, in base64. */
void etcd_key_of(char out[ETCD_KEY_SIZE], const char *name, uint64_t lease);

/* Read the lease out of a key in base64.  False: the key does not belong to the
 * lock. */
bool etcd_key_read(const char *key, const char *name, uint64_t *lease);

/* Write `len` bytes in base64, and a NUL. */
void etcd_base64(char *out, const void *bytes, size_t len);

/* Decode base64 into *out, and write the number of bytes into *len.  False: the text is
 * not base64, or has more than `size` bytes. */
bool etcd_base64_read(const char *text, void *out, size_t size, size_t *len);

/* Read a number of a JSON object. etcd writes numbers as strings, and leaves them out
 * if they are 0.  False: the field is no number, or a number below `least`. */
bool etcd_number(const json_t *object, const char *field, int64_t least, int64_t *out);

/* Parse the JSON of an answer; the caller frees it with json_decref().  NULL: it is no JSON, or it
 * has more values than an answer of so many bytes, in which keys and numbers have many digits.
 * Each value takes memory, up to a hundred times that of its text.  `end` NULL: the JSON ends with
 * the bytes; else bytes may follow, and its position is the place of the first. */
json_t *etcd_json_read(const char *bytes, size_t len, json_error_t *end);

#endif /* DLOCK_ETCD_TEXT_H */
