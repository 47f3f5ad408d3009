/* SPDX-License-Identifier: MIT */
/* hazard_catalogue.c -- the list of hazards, made from hazards.def alone. */
#include "loadtest/sale/hazard_catalogue.h"

#include <string.h>

static const struct hazard *const hazards[] = {
#define HAZARD(file) &hazard_##file,
#include "loadtest/sale/hazards.def"
#undef HAZARD
};

enum { HAZARD_COUNT = sizeof hazards / sizeof hazards[0] };

const struct hazard *hazard_at(size_t i)
{
    return i < HAZARD_COUNT ? hazards[i] : NULL;
}

const char *hazard_name_at(size_t i)
{
    return i < HAZARD_COUNT ? hazards[i]->name : NULL;
}

const struct hazard *hazard_find(const char *name)
{
    for (size_t i = 0; i < HAZARD_COUNT; i++) {
        if (strcmp(hazards[i]->name, name) == 0)
            return hazards[i];
    }
    return NULL;
}
