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
    .does = "every subscription is cut: CLIENT KILL TYPE pubsub",
    .needs = "a client with a subscription",
    .servers = FAULT_ON(LAB_IS_REDIS),
    .begin = begin,
};
