/* SPDX-License-Identifier: MIT */
/* batch.h -- many seeds of one variant in one class: each is played in a process of its own,
 * a fork of one that is prepared, so that every seed finds the same memory and a crash costs
 * one seed. */
#ifndef SIMULATION_BATCH_H
#define SIMULATION_BATCH_H

#include "tests/simulation/workload.h"

/* So many seeds are played at once at most. */
enum { BATCH_JOBS_MAX = 16 };

struct outcome;

struct batch {
    const dlock_variant_info *variant;
    enum class class;
    uint64_t first_seed, seed_count;
    bool twice;  /* each seed is played again, and has to have the same hash */
    int job_count; /* seeds that are played at once */
    bool ends_at_wrong; /* no further seed begins after a wrong one */
    /* Seeds whose verdict is not FINE, and one of so many others, are played again with the
     * recorder, and `seckill check` judges their records too; 0: none are.  Only locks are
     * recorded. */
    uint64_t check_one_in;
    /* Their records are left in DIR/VARIANT-CLASS-SEED-VERDICT; NULL: nowhere. */
    const char *record_dir;
    /* Must the verdict not come of a seed?  NULL: every verdict but FINE. */
    bool (*is_wrong)(const struct batch *batch, enum verdict verdict);
    /* Each seed is told to it when it has been played and counted.  NULL: to nobody. */
    void (*note)(const struct batch *batch, const struct outcome *outcome, uint64_t seed,
                 const struct account *account);
};

/* What came of a batch. */
struct outcome {
    uint64_t seeds, calls, commands, faults;
    uint64_t verdicts[VERDICT_COUNT];
    uint64_t different; /* seeds whose two hashes differ */
    uint64_t checked;     /* seeds that `seckill check` judged too */
    uint64_t disputed;    /* of which it says something else       */
    uint64_t wrong_count; /* seeds whose verdict is wrong */
    uint64_t first_wrong; /* the least of them; 0: none   */
    struct account wrong; /* of that seed  */
};

/* Once in a process, before all batches and plays. */
void batch_prepare(void);

/* Play one seed in this process, which can play no other one. */
void batch_play_here(const struct play *play, struct account *account, bool is_told);

/* Play one seed in a process of its own. */
void batch_play(const struct play *play, struct account *account, bool is_told);

struct outcome batch_run(const struct batch *batch);

#endif /* SIMULATION_BATCH_H */
