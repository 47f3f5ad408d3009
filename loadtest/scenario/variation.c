/* SPDX-License-Identifier: MIT */
/* variation.c -- draws from a seed whatever may differ between two performances of a
 * scenario. */
#include "loadtest/scenario/variation.h"

#include "loadtest/lab/lab.h"

enum { SLOWER_MAX = 25, LEASE_MIN_MS = 3000, LEASE_MORE_MS = 4000, STALLS_MIN = 2,
       STALLS_MAX = 5 };

/* SplitMix64. */
uint64_t scenario_chance(uint64_t *dice)
{
    uint64_t z = *dice += UINT64_C(0x9e3779b97f4a7c15);

    z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
    return z ^ (z >> 31);
}

int scenario_dice(uint64_t *dice, int below)
{
    return (int)(scenario_chance(dice) % (uint64_t)below);
}

static int between(uint64_t *dice, int low, int high)
{
    return low + scenario_dice(dice, high - low + 1);
}

/* FNV-1a over the text and its NUL, so that "ab", "c" and "a", "bc" give different values. */
static uint64_t mix(uint64_t hash, const char *text)
{
    do
        hash = (hash ^ (unsigned char)*text) * UINT64_C(0x100000001b3);
    while (*text++ != '\0');
    return hash;
}

struct scenario_variation scenario_vary(uint32_t seed, const char *scenario,
                                        const char *lock, const char *guard)
{
    uint64_t dice = UINT64_C(0xcbf29ce484222325) ^ seed;
    struct scenario_variation v = {.is_varied = true, .seed = seed};

    dice = mix(mix(mix(dice, scenario), lock), guard);
    v.number = scenario_chance(&dice);
    v.time_percent = between(&dice, 100, 100 + SLOWER_MAX);
    v.first_node = scenario_dice(&dice, LAB_COUNT_REDLOCK);
    v.processes = between(&dice, 1, BACKGROUND_PROCESSES_MAX);
    v.threads = between(&dice, 2, BACKGROUND_THREADS_MAX);
    v.names = between(&dice, 2, BACKGROUND_NAMES_MAX);
    v.lease_ms = between(&dice, LEASE_MIN_MS, LEASE_MIN_MS + LEASE_MORE_MS);
    v.wait_ms = between(&dice, 0, 200);
    v.hold_us = between(&dice, 1, 2000);
    v.rest_us = between(&dice, 500, 8000);
    v.delay_ms = between(&dice, 0, 3);
    v.delays_answers = scenario_dice(&dice, 2) == 1;
    v.stalls = between(&dice, STALLS_MIN, STALLS_MAX);
    return v;
}

int background_name(const struct scenario_variation *vary, unsigned caps, int process,
                    int thread, uint64_t *dice)
{
    int name = scenario_dice(dice, vary->names);

    if (caps & DLOCK_CAP_EXCLUSIVE)
        return name;
    if (caps & DLOCK_CAP_LOCAL)
        return process * vary->names + name;
    return process * vary->threads + thread;
}
