/* SPDX-License-Identifier: MIT */
/* kill_pubsub.c -- whoever waits for a message loses the connection that it would come
 * by, and the message with it. */
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
