/* SPDX-License-Identifier: MIT */
/* etcd_text.h -- the texts of etcd's JSON: base64, the keys of a lock, numbers.
 *
 * A lock NAME is the prefix "NAME/", and each holder or waiter has the key "NAME/LEASE" in
 * it, LEASE being the number of the key's lease in hexadecimal digits: the keys of etcd's own
 * recipe, so that `etcdctl lock NAME` stands in the same queue.  A key with another end belongs
 * to another lock (the keys of "a/b" begin with "a/", too) or to no lock.
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

/* All keys of a lock: from `from` on, and before `to`; both in base64. */
struct etcd_range {
    char from[ETCD_PREFIX_SIZE];
    char to[ETCD_PREFIX_SIZE];
};

struct etcd_range etcd_range_of(const char *name);

/* The key of the lease in the lock, in base64. */
void etcd_key_of(char out[ETCD_KEY_SIZE], const char *name, uint64_t lease);

/* The lease of a key in base64.  False: the key is none of the lock's. */
bool etcd_key_read(const char *key, const char *name, uint64_t *lease);

/* `len` bytes in base64, and a NUL. */
void etcd_base64(char *out, const void *bytes, size_t len);

/* Read base64.  False: the text is none, or more than `size` bytes. */
bool etcd_base64_read(const char *text, void *out, size_t size, size_t *len);

/* Read a number of an object, which etcd writes as a string, and leaves out if it is 0; a
 * negative one only if `least` is below 0.  False: it is no such number. */
bool etcd_number(const json_t *object, const char *field, int64_t least, int64_t *out);

#endif /* DLOCK_ETCD_TEXT_H */
