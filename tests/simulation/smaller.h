/* SPDX-License-Identifier: MIT */
/* smaller.h -- a world with less in it than its seed draws: fewer faults, processes, threads,
 * rounds, names.
 *
 * A world that lacks something takes another course from there on, because all parts of the world
 * draw from one sequence of random numbers. So a smaller world is tried with several draws, numbers
 * that are mixed into its seed, until the world ends with the same verdict. */
#ifndef SIMULATION_SMALLER_H
#define SIMULATION_SMALLER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The sizes that can be smaller, with the names of the flag --less and the least values. */
#define SMALLER_SIZES(X) X(FAULTS, "faults", 0) X(PROCESSES, "processes", 1) \
    X(THREADS, "threads", 1) X(ROUNDS, "rounds", 1) X(NAMES, "names", 1) \
    X(BYSTANDERS, "bystanders", 0)

enum smaller_size {
#define X(id, name, least) SIZE_##id,
    SMALLER_SIZES(X)
#undef X
    SIZE_COUNT
};

enum { SMALLER_TEXT = 160 };

struct smaller {
    int64_t most[SIZE_COUNT]; /* -1: as the seed draws it            */
    uint64_t draw;            /* mixed into the seed; 0: the seed is unchanged */
};

extern const struct smaller smaller_nothing;

/* Read a text such as "faults:1,processes:2,draw:7". Returns false for any other text. */
bool smaller_read(struct smaller *out, const char *text);
void smaller_print(char out[SMALLER_TEXT], const struct smaller *less);

/* The names that smaller_read() accepts, separated by commas. */
const char *smaller_names(void);

/* The least value of a size. */
int64_t smaller_least(enum smaller_size size);

#endif /* SIMULATION_SMALLER_H */
