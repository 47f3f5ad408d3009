/* SPDX-License-Identifier: MIT */
/* variation.h -- the values in which performances of one scenario may differ, drawn from a seed:
 * the same seed gives the same values on every machine.
 *
 * No value may change the outcome of a story.  The lease and the pauses of the story grow by the
 * same factor, so a pause that is longer than a lease stays longer. */
#ifndef LOADTEST_SCENARIO_VARIATION_H
#define LOADTEST_SCENARIO_VARIATION_H

#include <stdbool.h>
#include <stdint.h>

#include "lock/dlock.h"

enum {
    BACKGROUND_PROCESSES_MAX = 2,
    BACKGROUND_THREADS_MAX = 3, /* in each process                                    */
    BACKGROUND_NAMES_MAX = 3,
};

struct scenario_variation {
    bool is_varied;        /* false: no variation and no background load; the rest is 0  */
    uint32_t seed;         /* it was drawn from                                       */
    uint64_t number;       /* the first state of the background load's random numbers  */
    int time_percent;      /* of the story's lease and pauses: 100 to 125             */
    int first_node;        /* which server is the first of several                    */
    int processes, threads, names; /* of the background load; threads: of each process */
    int lease_ms;          /* of the background load's locks                          */
    int wait_ms;           /* the longest wait for a lock                             */
    int hold_us, rest_us;  /* the longest hold of a lock, and the longest rest        */
    int delay_ms;          /* on its wires, in one direction; 0: none                 */
    bool delays_answers;   /* that direction                                          */
    int stalls;            /* how often a process or a wire of the background load stands still */
};

/* Draw the values from this seed and these words, so that every cell of a matrix gets other
 * values. */
struct scenario_variation scenario_vary(uint32_t seed, const char *scenario,
                                        const char *lock, const char *guard);

/* The next random number of this stream.  Any state may be the first, 0 too, and streams may
 * begin at successive states. */
uint64_t scenario_chance(uint64_t *dice);

/* A random number from 0 to below `below`, which must be positive; changes *dice. */
int scenario_dice(uint64_t *dice, int below);

/* The number of the name that thread `thread` of process `process` takes next: any name of the
 * background load, as far as the lock (by its caps) promises to exclude the others. */
int background_name(const struct scenario_variation *vary, unsigned caps, int process,
                    int thread, uint64_t *dice);

#endif /* LOADTEST_SCENARIO_VARIATION_H */
