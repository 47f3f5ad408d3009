/* SPDX-License-Identifier: MIT */
/* variation.h -- what is free in a performance, drawn from a number: the same number
 * gives the same again, on every machine.
 *
 * Nothing here may change how a story ends.  The lease and the times that the story lets
 * pass grow by the same factor, so that what is longer than what stays so. */
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
    bool is_varied;        /* false: as it is written, alone on its stage; the rest is 0 */
    uint32_t seed;         /* it was drawn from                                       */
    uint64_t number;       /* that the background load's own dice begin with          */
    int time_percent;      /* of the story's lease and pauses: 100 to 125             */
    int first_node;        /* which server is the first of several                    */
    int processes, threads, names; /* of the background load; threads: of each process */
    int lease_ms;          /* of the background load's locks                          */
    int wait_ms;           /* how long it waits for one at most                       */
    int hold_us, rest_us;  /* how long it holds one, and rests, at most               */
    int delay_ms;          /* on its wires, in one direction; 0: none                 */
    bool delays_answers;   /* that direction                                          */
    int stalls;            /* how often a process or a wire of the background load stands still */
};

/* For this seed, and these words, so that every cell of a matrix gets another one. */
struct scenario_variation scenario_vary(uint32_t seed, const char *scenario,
                                        const char *lock, const char *guard);

/* The next number of this stream.  Every state is as good a beginning as any other, 0
 * too, so streams may begin at successive states. */
uint64_t scenario_chance(uint64_t *dice);

/* A number from 0 to below `below`, which must be positive; `dice` goes on. */
int scenario_dice(uint64_t *dice, int below);

/* The number of the name that thread `thread` of process `process` takes next: any name of the
 * background load, as far as the lock (by its caps) promises to exclude the others. */
int background_name(const struct scenario_variation *vary, unsigned caps, int process,
                    int thread, uint64_t *dice);

#endif /* LOADTEST_SCENARIO_VARIATION_H */
