/* SPDX-License-Identifier: MIT */
/* sharded_text.h -- the texts of Lua scripts for the nodes of a Redis Cluster.
 *
 * In a cluster, a message of PUBLISH goes to all nodes.  Redis 7.0 can send a message
 * only to the nodes of one slot, by SPUBLISH, SSUBSCRIBE and PUBSUB SHARDNUMSUB;
 * Redisson uses these commands too.  The scripts in lua/ use 'PUBLISH' and 'NUMSUB',
 * and this file replaces these two words.
 *
 * Only for base/redis/.
 *
 * Threads     Any, but for init and destroy. */
#ifndef BASE_REDIS_SHARDED_TEXT_H
#define BASE_REDIS_SHARDED_TEXT_H

#include "base/os/mutex.h"

struct redis_sharded_text;

struct redis_sharded_texts {
    struct dlock_mutex mutex;
    struct redis_sharded_text *all; /* under the mutex */
};

void redis_sharded_texts_init(struct redis_sharded_texts *texts);
void redis_sharded_texts_destroy(struct redis_sharded_texts *texts);

/* The text of a script with these words replaced.  `text` must be a constant.  The
 * result lives until the destroy.  NULL: no memory. */
const char *redis_sharded_text(struct redis_sharded_texts *texts, const char *text);

#endif /* BASE_REDIS_SHARDED_TEXT_H */
