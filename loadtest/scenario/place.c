/* SPDX-License-Identifier: MIT */
/* place.c -- the labs that performances need, and whether a lab is fit for the next one. */
#include "loadtest/scenario/place.h"

#include <stdio.h>

#include "base/os/clock.h"
#include "loadtest/kit/interrupt.h"
#include "loadtest/scenario/scenario.h"

enum { JOIN_MS = 20000, POLL_MS = 5 };

bool place_is_meant(const struct performance *p, bool own)
{
    return scenario_has_own_servers(p->setup->scenario) == own;
}

lab_topologies place_needs(const struct batch *t, bool own)
{
    lab_topologies wanted = 0;

    for (size_t i = 0; i < t->count; i++) {
        const struct scenario_setup *setup = t->all[i].setup;

        if (!place_is_meant(&t->all[i], own))
            continue;
        wanted |= setup->scenario->topology != LAB_TOPOLOGY_CORE
                      ? 1u << setup->scenario->topology
                      : lab_lock_needs(setup->lock->name);
    }
    return wanted;
}

/* Does every topology stand, now or soon?  A server that went on joins its peers by itself. */
static bool is_whole(const struct lab *lab)
{
    int64_t end_ns = dlock_clock_after(dlock_clock_ns(), JOIN_MS);
    char why[LAB_WHY_MAX];

    for (unsigned topology = 0; topology < LAB_TOPOLOGY_COUNT; topology++)
        while (!lab_topology_stands(lab, (enum lab_topology)topology, why))
            if (dlock_clock_ns() >= end_ns || !interrupt_sleep_ms(POLL_MS))
                return false;
    return true;
}

bool place_restore(const struct batch *t, struct place *place)
{
    bool was_there;

    if (lab_state_read(&place->lab, place->dir) && lab_is_up(&place->lab) &&
        is_whole(&place->lab))
        return true;
    fprintf(stderr, "seckill scenario: the lab in %s is not as it was; making it anew\n",
            place->dir);
    return lab_remove(place->dir, &was_there) == EXIT_VALID &&
           lab_keep(&place->lab, place->dir, place_needs(t, true), &was_there) ==
               EXIT_VALID;
}
