/* SPDX-License-Identifier: MIT */
/* calm.c -- the load without a fault. */
#include "loadtest/sale/hazard.h"

static enum hazard_state step(struct hazard_scene *scene)
{
    (void)scene;
    return HAZARD_OVER;
}

const struct hazard hazard_calm = {
    .name = "calm",
    .does = "nothing",
    .step = step,
};
