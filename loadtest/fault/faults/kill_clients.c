/* SPDX-License-Identifier: MIT */
/* kill_clients.c -- every ordinary connection is closed by the server, with the requests
 * that are under way. */
#include "loadtest/fault/clients.h"

static bool begin(struct fault_scene *scene)
{
    return fault_clients_kill(scene, "normal");
}

const struct server_fault fault_kill_clients = {
    .name = "kill-clients",
    .does = "every ordinary connection is cut: CLIENT KILL TYPE normal",
    .needs = "a client that is connected",
    .servers = FAULT_ON(LAB_IS_REDIS),
    .breaks = {[LAB_IS_REDIS] = DLOCK_ASSUMES_NETWORK},
    .begin = begin,
};
