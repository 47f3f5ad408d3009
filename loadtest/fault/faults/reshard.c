/* SPDX-License-Identifier: MIT */
/* reshard.c -- slots of a Redis Cluster move to another master, with their keys, while clients
 * use these keys; at the end the slots move back. */
#include "base/os/clock.h"
#include "loadtest/fault/leader.h"
#include "loadtest/fault/slots.h"
#include "loadtest/kit/interrupt.h"

struct reshard {
    const struct lab_server *other;
    int slots[FAULT_SLOTS_MAX];
    int slot_count;
    int moved_count; /* of the slots, how many the other has now */
    bool is_open;    /* the next one was on its way when its move failed */
};

/* An earlier program may have left the move of a slot open.  If that is the leader's, the end of
 * the move makes another server the leader. */
static bool arm(struct fault_scene *scene)
{
    bool was_leader = lab_topology_leader(scene->lab, LAB_TOPOLOGY_CLUSTER) == scene->server;
    struct lab_server *leader;
    int count;

    if (!fault_slots_finish(scene, &count))
        return false;
    leader = count > 0 && was_leader ? lab_topology_leader(scene->lab, LAB_TOPOLOGY_CLUSTER) : NULL;
    if (leader != NULL)
        scene->server = leader;
    return true;
}

static bool begin(struct fault_scene *scene)
{
    struct reshard *reshard = server_fault_state(scene, sizeof *reshard);
    int64_t since_ns = dlock_clock_ns();

    if (!fault_leader_is_it(scene))
        return false;
    reshard->other = fault_leader_find(scene, "role:master\r\n");
    if (reshard->other == NULL)
        return server_fault_complain(scene, "no other master answers");
    if (!fault_slots_choose(scene, reshard->slots, &reshard->slot_count))
        return false;
    for (int i = 0; i < reshard->slot_count; i++) {
        if (interrupted())
            return server_fault_complain(scene, "%d of %d slots have moved, and move back, since "
                                         "the program is to end", i, reshard->slot_count);
        reshard->is_open = true;
        if (!fault_slot_move(scene, reshard->slots[i], scene->server, reshard->other))
            return false;
        reshard->is_open = false;
        reshard->moved_count = i + 1;
    }
    server_fault_note(scene, "%s: %d of its slots move, with their keys", scene->server->name,
                      reshard->slot_count);
    return fault_leader_await_other(scene, since_ns);
}

static bool end(struct fault_scene *scene)
{
    struct reshard *reshard = server_fault_state(scene, sizeof *reshard);
    int count = 0;
    bool ok = !reshard->is_open || fault_slots_finish(scene, &count);

    if (ok && reshard->is_open) {
        reshard->is_open = false;
        reshard->moved_count++;
    }
    count = reshard->moved_count;
    while (ok && reshard->moved_count > 0) {
        ok = fault_slot_move(scene, reshard->slots[reshard->moved_count - 1], reshard->other,
                             scene->server);
        reshard->moved_count -= ok;
    }
    if (ok && count > 0)
        server_fault_note(scene, "%s: the slots are back", scene->server->name);
    return ok && (count == 0 || fault_leader_await_whole(scene));
}

const struct server_fault fault_reshard = {
    .name = "reshard",
    .does = "slots of the leader move to another master with their keys, and later back",
    .needs = "a lab with --cluster",
    .servers = FAULT_ON(LAB_IS_REDIS),
    .topologies = LAB_WITH(CLUSTER),
    .arm = arm,
    .begin = begin,
    .end = end,
    .disarm = end,
};
