/* SPDX-License-Identifier: MIT */
/* part.h -- the part of an actor: the settings that its process works with. */
#ifndef LOADTEST_SCENARIO_PARTICIPANTS_PART_H
#define LOADTEST_SCENARIO_PARTICIPANTS_PART_H

#include "db/sale_types.h"
#include "loadtest/kit/files.h"
#include "loadtest/lab/urls.h"
#include "loadtest/scenario/scenario.h"

/* An actor's part: the settings that it works with, from its first order on. */
struct actor_part {
    /* The processes are forks of one program, so these are theirs too. */
    const char *variant, *record_dir, *lock;
    const struct stock_guard *guard;
    struct lab *lab;
    struct lab_urls urls; /* of the lock's store, by way of the actor's wires          */
    char sale_url[LAB_URL_MAX];
    int64_t stock;       /* the initial value of the counter in the lab's Redis       */
    char name[32];       /* of the actor, also in its orders                          */
    int lease_ms, store_timeout_ms, node_timeout_ms, replicas_acknowledge;
    bool commits_lazily;
    int64_t voucher, first_user; /* thread i buys as first_user + i                     */
};

#endif /* LOADTEST_SCENARIO_PARTICIPANTS_PART_H */
