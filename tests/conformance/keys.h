/* SPDX-License-Identifier: MIT */
/* keys.h -- the etcd under a variant, seen past the library: by requests of its own to the JSON
 * gateway.  A request that etcd refuses fails the law. */
#ifndef CONFORMANCE_KEYS_H
#define CONFORMANCE_KEYS_H

#include <stdbool.h>
#include <stdint.h>

/* The number of keys that begin with "NAME/", of whatever kind. */
int keys_count(const char *name);

/* Put a key without a lease, as another program would; or with one of its own, which is
 * granted for that and lasts for `seconds`. */
void keys_put(const char *key);
void keys_put_leased(const char *key, uint64_t lease, int seconds);
void keys_delete(const char *key);

/* The lease of the oldest key that begins with "NAME/", and of the youngest. */
uint64_t keys_oldest_lease(const char *name);
uint64_t keys_youngest_lease(const char *name);

/* Were all keys that begin with "NAME/" created in revisions of their own? */
bool keys_have_a_revision_each(const char *name);

/* End a lease with its key, as its time would. */
void keys_revoke(uint64_t lease);

/* Let etcd forget all of the past. */
void keys_compact(void);

#endif /* CONFORMANCE_KEYS_H */
