/* SPDX-License-Identifier: MIT */
/* kinds.c -- the table of the programs that a lab's servers run. */
#include "loadtest/lab/kind.h"

static const struct lab_kind_row *const KINDS[] = {
#define KIND(id, file) &lab_kind_##file,
#include "loadtest/lab/kinds.def"
#undef KIND
};

const struct lab_kind_row *lab_kind_row(enum lab_kind kind)
{
    return KINDS[kind];
}

const struct lab_kind_row *lab_kind_of(const struct lab_server *server)
{
    return KINDS[lab_server_kind(server)];
}

const char *lab_kind_name(enum lab_kind kind)
{
    return KINDS[kind]->name;
}

void lab_server_describe(const struct lab *lab, const struct lab_server *server,
                         char out[LAB_PART_MAX])
{
    const struct lab_kind_row *kind = lab_kind_of(server);

    out[0] = '\0';
    if (kind->describe && lab_role_topology(server->role) != LAB_TOPOLOGY_CORE)
        kind->describe(lab, server, out);
}
