/* SPDX-License-Identifier: MIT */
/* sharded_text.h -- Lua scripts as the nodes of a Redis Cluster get them.
 *
 * A message of a cluster's PUBLISH goes to all nodes.  Redis 7.0 has messages that stay with the
 * nodes of one slot, which Redisson uses too: SPUBLISH, SSUBSCRIBE and PUBSUB SHARDNUMSUB.  The
 * scripts in lua/ say 'PUBLISH' and 'NUMSUB'; here these two words are replaced.
 *
 * Only for this room.
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

/* `text`, which must be a constant, with these words replaced.  It is kept until the destroy.  NULL:
 * no memory. */
const char *redis_sharded_text(struct redis_sharded_texts *texts, const char *text);

#endif /* BASE_REDIS_SHARDED_TEXT_H */
