/* SPDX-License-Identifier: MIT */
/* smaller.h -- a world with less in it than its seed draws: fewer faults, processes, threads,
 * rounds, names.
 *
 * A world in which something is missing goes on differently from there, since one chance is drawn
 * from by all.  So a smaller world is drawn in several ways, by a number that is mixed into its
 * seed, until one of them ends as the whole one did. */
#ifndef SIMULATION_SMALLER_H
#define SIMULATION_SMALLER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* What can be less, by the names of the flag --less. */
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
    uint64_t draw;            /* mixed into the seed; 0: it is as it is */
};

extern const struct smaller smaller_nothing;

/* "faults:1,processes:2,draw:7".  False: it is no such text. */
bool smaller_read(struct smaller *out, const char *text);
void smaller_print(char out[SMALLER_TEXT], const struct smaller *less);

/* The names that smaller_read() takes, with commas between. */
const char *smaller_names(void);

/* The least that is asked of a size. */
int64_t smaller_least(enum smaller_size size);

#endif /* SIMULATION_SMALLER_H */
