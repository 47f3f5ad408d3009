/* SPDX-License-Identifier: MIT */
/* clients.h -- cut the connections that clients have to a Redis server. */
#ifndef LOADTEST_FAULT_CLIENTS_H
#define LOADTEST_FAULT_CLIENTS_H

#include "loadtest/fault/redis.h"

/* Cut all of one type, "normal" or "pubsub", but not our own, and see that none of them
 * is left.  False if there was none: then nothing happened. */
bool fault_clients_kill(struct fault_scene *scene, const char *type);

#endif /* LOADTEST_FAULT_CLIENTS_H */
