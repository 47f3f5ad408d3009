/* SPDX-License-Identifier: MIT */
/* clients.h -- cut the connections that clients have to a Redis server. */
#ifndef LOADTEST_FAULT_CLIENTS_H
#define LOADTEST_FAULT_CLIENTS_H

#include "loadtest/fault/redis.h"

/* Cut all connections of one type, "normal" or "pubsub", except the laboratory's own, and check
 * that none of them is left.  False: there was none, or one is left; said as
 * server_fault_complain() does. */
bool fault_clients_kill(struct fault_scene *scene, const char *type);

#endif /* LOADTEST_FAULT_CLIENTS_H */
