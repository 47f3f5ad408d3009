/* SPDX-License-Identifier: MIT */
/* slot.h -- computes the slot of a key in a Redis Cluster.
 *
 * Source      The Redis Cluster specification: CRC16 (XMODEM) of the key, or of the
 *             text in its first braces, so that keys with the same text in braces share
 *             a slot.
 * Threads     Any. */
#ifndef BASE_REDIS_SLOT_H
#define BASE_REDIS_SLOT_H

#include <stdbool.h>

enum { REDIS_SLOT_COUNT = 16384 };

/* The slot of the key, from 0 to REDIS_SLOT_COUNT - 1. */
int redis_slot_of(const char *key);

/* Are both slots computed from the same text?  If not, the slots may still be equal by
 * chance. */
bool redis_slot_is_shared(const char *key, const char *other);

#endif /* BASE_REDIS_SLOT_H */
