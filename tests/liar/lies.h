/* SPDX-License-Identifier: MIT */
/* lies.h -- the wrong answers of the lying servers. */
#ifndef LIAR_LIES_H
#define LIAR_LIES_H

#include "tests/liar/script.h"

/* Store the list of wrong answers of a server, and return its length. */
size_t redis_lies(const struct lie **lies);
size_t postgres_lies(const struct lie **lies);
size_t etcd_lies(const struct lie **lies);
size_t zookeeper_lies(const struct lie **lies);

/* Is the wrong answer a well-formed grant, in answer to this request: a command of Redis, a
 * statement, a request of HTTP, or a call of ZooKeeper's client library? */
bool redis_is_grant(const struct lie *lie, const char *verb);
bool postgres_is_grant(const struct lie *lie, const char *sql);
bool etcd_is_grant(const struct lie *lie, const char *asked);
bool zookeeper_is_grant(const struct lie *lie, const char *asked);

#endif /* LIAR_LIES_H */
