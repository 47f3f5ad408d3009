/* SPDX-License-Identifier: MIT */
/* topologies.c -- the topologies that a lab has, needs, and how they stand. */
#include "loadtest/lab/topology.h"

#include "loadtest/lab/urls.h"

static const struct lab_topology_row CORE = {0};

static const struct {
    const struct lab_topology_row *row;
    const char *flag, *adds;
} TOPOLOGIES[] = {
    {&CORE, "", "the core servers"},
#define TOPOLOGY(id, file, flag, adds) {&lab_topology_##file, flag, adds},
#include "loadtest/lab/topologies.def"
#undef TOPOLOGY
};

const struct lab_topology_row *lab_topology_row(enum lab_topology topology)
{
    return TOPOLOGIES[topology].row;
}

const struct lab_topology_row *lab_topology_of(enum lab_role role)
{
    return TOPOLOGIES[lab_role_topology(role)].row;
}

const char *lab_topology_flag(enum lab_topology topology)
{
    return TOPOLOGIES[topology].flag;
}

void lab_topologies_print(lab_topologies set)
{
    const char *between = "";

    for (unsigned t = LAB_TOPOLOGY_CORE + 1; t < LAB_TOPOLOGY_COUNT; t++) {
        if (!(set & 1u << t))
            continue;
        eprintf("%s%s", between, TOPOLOGIES[t].adds);
        between = "; and ";
    }
}

lab_topologies lab_has_which(const struct lab *lab)
{
    lab_topologies has = 0;

    for (int i = 0; i < lab->server_count; i++)
        has |= 1u << lab_role_topology(lab->servers[i].role);
    return has & ~LAB_WITH(CORE);
}

bool lab_has(const struct lab *lab, lab_topologies wanted)
{
    return (wanted & ~lab_has_which(lab) & ~LAB_WITH(CORE)) == 0;
}

lab_topologies lab_lock_needs(const char *lock)
{
    const struct dlock_variant_info *found = dlock_variant_find(lock);
    enum lab_role role = found ? lab_store_role(dlock_store_of(found)) : LAB_ROLE_COUNT;

    return role == LAB_ROLE_COUNT ? 0 : (1u << lab_role_topology(role)) & ~LAB_WITH(CORE);
}

bool lab_topology_stands(const struct lab *lab, enum lab_topology topology,
                         char why[LAB_WHY_MAX])
{
    const struct lab_topology_row *row = TOPOLOGIES[topology].row;

    why[0] = '\0';
    for (unsigned role = 0; role < LAB_ROLE_COUNT; role++)
        if (lab_role_topology((enum lab_role)role) == topology && row->stands &&
            lab_has(lab, 1u << topology) && !row->stands(lab, (enum lab_role)role, why))
            return false;
    return true;
}

struct lab_server *lab_topology_leader(struct lab *lab, enum lab_topology topology)
{
    const struct lab_topology_row *row = TOPOLOGIES[topology].row;
    int place = -1;

    if (row->leader && lab_has(lab, 1u << topology))
        place = row->leader(lab, row->role);
    return place < 0 ? NULL : &lab->servers[place];
}

bool lab_topology_has_leaders(enum lab_topology topology)
{
    return TOPOLOGIES[topology].row->leader != NULL;
}

bool lab_topology_promote(const struct lab *lab, enum lab_topology topology,
                          char why[LAB_WHY_MAX])
{
    const struct lab_topology_row *row = TOPOLOGIES[topology].row;

    if (row->promote)
        return row->promote(lab, why);
    snprintf(why, LAB_WHY_MAX, "--%s elects no other leader on request",
             TOPOLOGIES[topology].flag);
    return false;
}

enum lab_role lab_topology_role(enum lab_topology topology)
{
    return TOPOLOGIES[topology].row->role;
}

void lab_topology_write_address(const struct lab *lab,
                                const struct lab_topology_row *row,
                                char out[LAB_ADDRESS_MAX])
{
    if (row->address)
        row->address(lab, out);
    else
        lab_role_url(lab, row->role, NULL, out);
}

bool lab_topology_address(const struct lab *lab, enum lab_topology topology, char *out)
{
    const struct lab_topology_row *row = TOPOLOGIES[topology].row;

    if (!row->variable || row->takes_list)
        return false;
    lab_topology_write_address(lab, row, out);
    return true;
}
