/* SPDX-License-Identifier: MIT */
/* keys.h -- reads and changes the etcd of a variant without the library, by requests to etcd's JSON
 * gateway. A request that etcd refuses fails the law. */
#ifndef CONFORMANCE_KEYS_H
#define CONFORMANCE_KEYS_H

#include <stdbool.h>
#include <stdint.h>

/* The number of keys that begin with "NAME/", of any form. */
int keys_count(const char *name);

/* Put a key without a lease, as another program would; or put a key with a new lease of
 * `seconds`. */
void keys_put(const char *key);
void keys_put_leased(const char *key, uint64_t lease, int seconds);
void keys_delete(const char *key);

/* The lease of the oldest key that begins with "NAME/", and of the youngest. */
uint64_t keys_oldest_lease(const char *name);
uint64_t keys_youngest_lease(const char *name);

/* Does each key that begins with "NAME/" have a create revision of its own? */
bool keys_have_a_revision_each(const char *name);

/* End a lease now, together with its key. */
void keys_revoke(uint64_t lease);

/* Compact etcd's history up to now, so that no watch can start at an earlier revision. */
void keys_compact(void);

#endif /* CONFORMANCE_KEYS_H */
