/* SPDX-License-Identifier: MIT */
/* pause_master.c -- the master stands still until another one is named, and then goes on: for
 * about ten seconds it does not know that it is no master any more. */
#include "base/os/clock.h"
#include "loadtest/fault/leader.h"
#include "loadtest/fault/suspend.h"

struct pause {
    struct suspend suspend;
    bool was_stopped;
};

static bool begin(struct fault_scene *scene)
{
    struct pause *pause = server_fault_state(scene, sizeof *pause);
    const struct child *child = &scene->server->child;
    int64_t since_ns = dlock_clock_ns();

    if (!fault_leader_is_it(scene) || !suspend_begin(&pause->suspend, child))
        return false;
    pause->was_stopped = true;
    server_fault_note(scene, "%s: process %d is in state %c", scene->server->name,
                      (int)child->pid, child_state(child));
    return fault_leader_await_other(scene, since_ns);
}

static bool end(struct fault_scene *scene)
{
    struct pause *pause = server_fault_state(scene, sizeof *pause);
    char part[LAB_PART_MAX];

    if (!suspend_end(&pause->suspend))
        return true;
    if (!lab_server_wait(scene->lab, scene->server))
        return false;
    lab_server_describe(scene->lab, scene->server, part);
    server_fault_note(scene, "%s: process %d goes on, as %s", scene->server->name,
                      (int)scene->server->child.pid, part);
    return true;
}

/* It is a replica of the new master then. */
static bool disarm(struct fault_scene *scene)
{
    struct pause *pause = server_fault_state(scene, sizeof *pause);

    return !pause->was_stopped || (end(scene) && fault_leader_await_whole(scene));
}

const struct server_fault fault_pause_master = {
    .name = "pause-master",
    .does = "the master hangs (SIGSTOP) until another one is named, and later goes on",
    .needs = "a lab with --sentinel or --cluster",
    .servers = FAULT_ON(LAB_IS_REDIS),
    .topologies = LAB_WITH(SENTINEL) | LAB_WITH(CLUSTER),
    .breaks = {[LAB_IS_REDIS] = DLOCK_ASSUMES_STORE},
    .begin = begin,
    .end = end,
    .disarm = disarm,
};
