/* SPDX-License-Identifier: MIT */
/* server_stop.c -- a whole server stops answering, keeps its data and connections, and
 * then continues. */
#include <signal.h>

#include "loadtest/fault/server_fault.h"
#include "loadtest/fault/suspend.h"

static bool begin(struct fault_scene *scene)
{
    struct suspend *suspend = server_fault_state(scene, sizeof *suspend);
    struct lab_server *server = scene->server;

    if (!lab_server_answers(scene->lab, server))
        return server_fault_complain(scene, "it did not answer before it was stopped");
    if (!suspend_begin(suspend, &server->child))
        return false;
    if (lab_server_answers(scene->lab, server))
        return server_fault_complain(scene, "it still answers, though it is stopped");
    server_fault_note(scene, "%s: process %d is in state %c and does not answer",
                      server->name, (int)server->child.pid,
                      child_state(&server->child));
    return true;
}

static bool end(struct fault_scene *scene)
{
    if (!suspend_end(server_fault_state(scene, sizeof(struct suspend))))
        return true;
    if (!lab_server_wait(scene->lab, scene->server))
        return false;
    server_fault_note(scene, "%s: process %d goes on and answers", scene->server->name,
                      (int)scene->server->child.pid);
    return true;
}

const struct server_fault fault_server_stop = {
    .name = "server-stop",
    .does = "the server hangs: SIGSTOP, and later SIGCONT",
    .servers = FAULT_ON_ALL,
    .breaks = {[LAB_IS_POSTGRES] = DLOCK_ASSUMES_NETWORK,
               [LAB_IS_REDIS] = DLOCK_ASSUMES_NETWORK,
               [LAB_IS_ZOOKEEPER] = DLOCK_ASSUMES_NETWORK,
               [LAB_IS_ETCD] = DLOCK_ASSUMES_NETWORK},
    .begin = begin,
    .end = end,
};
