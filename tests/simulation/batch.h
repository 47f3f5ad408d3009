/* SPDX-License-Identifier: MIT */
/* batch.h -- plays many seeds of one variant in one class. Each seed is played in a process of its
 * own, a fork of one prepared process, so that every seed finds the same memory and a crash costs
 * one seed. */
#ifndef SIMULATION_BATCH_H
#define SIMULATION_BATCH_H

#include "tests/simulation/workload.h"

/* The greatest number of seeds that are played at the same time. */
enum { BATCH_JOBS_MAX = 16 };

struct outcome;

struct batch {
    const dlock_variant_info *variant;
    enum class class;
    uint64_t first_seed, seed_count;
    bool twice;  /* play each seed a second time, and require the same hash */
    int job_count; /* seeds that are played at the same time */
    bool ends_at_wrong; /* no further seed begins after a wrong one */
    /* Seeds whose verdict is not FINE, and one in this many others, are played again with the
     * recorder, and `seckill check` judges their records too; 0: no seed is. Only locks are
     * recorded. */
    uint64_t check_one_in;
    /* Keep the records in DIR/VARIANT-CLASS-SEED-VERDICT; NULL: delete them. */
    const char *record_dir;
    /* Must no seed of the batch end with this verdict? NULL: every verdict but FINE is wrong. */
    bool (*is_wrong)(const struct batch *batch, enum verdict verdict);
    /* Called for each seed that was played and counted. NULL: not called. */
    void (*note)(const struct batch *batch, const struct outcome *outcome, uint64_t seed,
                 const struct account *account);
};

/* The counts of a batch. */
struct outcome {
    uint64_t seeds, calls, commands, faults;
    uint64_t verdicts[VERDICT_COUNT];
    uint64_t different; /* seeds whose second hash differs */
    uint64_t checked;     /* seeds that `seckill check` judged too */
    uint64_t disputed;    /* checked seeds for which it contradicts the verdict */
    uint64_t wrong_count; /* seeds whose verdict is wrong */
    uint64_t first_wrong; /* the least of them; 0: none   */
    struct account wrong; /* the account of that seed */
};

/* Prepare the process, once, before all batches and plays. */
void batch_prepare(void);

/* Play one seed in this process, which cannot play another seed after that. */
void batch_play_here(const struct play *play, struct account *account, bool is_told);

/* Play one seed in a process of its own. */
void batch_play(const struct play *play, struct account *account, bool is_told);

struct outcome batch_run(const struct batch *batch);

/* Play all stories of story.c, worlds that are set up on purpose, each as a seed once found it: the
 * test of a bug that was fixed. Print TAP. Returns true if each has the verdict FINE. */
bool stories_play(void);

#endif /* SIMULATION_BATCH_H */
