/* SPDX-License-Identifier: MIT */
/* kill_pubsub.c -- the server closes every connection that subscribes to channels, so
 * waiters miss the messages that come next. */
#include "loadtest/fault/clients.h"

static bool begin(struct fault_scene *scene)
{
    return fault_clients_kill(scene, "pubsub");
}

const struct server_fault fault_kill_pubsub = {
    .name = "kill-pubsub",
    .does = "whoever listens for messages is cut off: CLIENT KILL TYPE pubsub",
    .needs = "somebody who listens",
    .servers = FAULT_ON(LAB_IS_REDIS),
    .begin = begin,
};
