/* SPDX-License-Identifier: MIT */
/* calm.c -- nothing goes wrong but the load itself. */
#include "loadtest/sale/hazard.h"

static bool arm(struct hazard_scene *scene)
{
    (void)scene;
    return true;
}

static enum hazard_state step(struct hazard_scene *scene)
{
    (void)scene;
    return HAZARD_OVER;
}

static void undo(struct hazard_scene *scene)
{
    (void)scene;
}

const struct hazard hazard_calm = {
    .name = "calm",
    .does = "nothing",
    .arm = arm,
    .step = step,
    .undo = undo,
};
