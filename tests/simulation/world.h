/* SPDX-License-Identifier: MIT */
/* world.h -- the simulated world of one seed: its time, random numbers, events, clocks, trace, and
 * its end.
 *
 * Everything happens in events. Time stands still while an event runs, and then jumps to the next
 * event. The seed alone decides the random numbers, so the same seed plays the same events, with
 * the same hash of the trace.
 *
 * A process has one world, so each seed is played in a process of its own (batch.h).
 *
 * Units       world time in nanoseconds since the world began.
 * Threads     One real thread; simulated threads are tasks (task.h). */
#ifndef SIMULATION_WORLD_H
#define SIMULATION_WORLD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "tests/simulation/smaller.h"

#define MS INT64_C(1000000) /* nanoseconds */
#define SECOND (1000 * MS)

/* An event. Its owner must not move or free it while it is planned. */
struct event {
    void (*run)(void *arg);
    void *arg;
    int64_t at_ns;
    uint64_t tie;  /* random; decides which of two events at one instant is first */
    size_t place;  /* the index in the heap, from 1; 0: the event is not planned */
};

/* A machine with a clock of its own: a simulated process, or a server. */
struct site {
    int number;          /* from 0; the numbers of servers follow those of the processes */
    int64_t offset_ns;   /* of the clock at the beginning of the world */
    int64_t drift_ppb;   /* ns that the clock gains in each second of world time */
    int64_t wall_ms;     /* ms by which the wall clock is ahead of the true time */
    int64_t stands_until_ns; /* its tasks and commands stand still until then */
    bool is_dead;        /* its tasks never run again */
    unsigned fork_count; /* forks from the first process of the world to this one */
};

enum { WORLD_TEXT = 240 };

/* The verdict of a seed. */
enum verdict { FINE, OVERLAP, FENCE, ASLEEP, SHUT, LOST_IN_CALM, HANG, ENDLESS, CRASH,
               NOT_KNOWN, OVERDRAWN, MISCOUNT, EARLY, TWICE, UNHELD, VERDICT_COUNT };

/* The account of a seed after its end, in memory that it shares with its parent. */
struct account {
    uint64_t hash;
    enum verdict verdict;
    char text[WORLD_TEXT]; /* of a verdict other than FINE */
    uint64_t calls, commands, faults, switches;
    int64_t sizes[SIZE_COUNT]; /* the sizes that the world had */
    int64_t ended_ns;
};

struct world {
    int64_t now_ns;
    struct event **heap;
    size_t event_count, event_room;
    uint64_t chance[4];
    struct account *account;
    bool is_told;  /* the trace is printed */
    bool is_over;
    bool is_calm;  /* the class plans no faults */
    struct smaller less;
};

extern struct world world;

/* Begin the world of `seed`, or a smaller one (`less`; NULL: the whole). The outcome is written
 * into `account`. */
void world_begin(uint64_t seed, const struct smaller *less, struct account *account,
                 bool is_told);

/* Run events until the world is over or nothing is planned. */
void world_run(void);

/* ---- chance ---- */

uint64_t chance_draw(void);
int64_t chance_between(int64_t least, int64_t most); /* both ends are possible */
bool chance_one_in(uint32_t count);

/* The same, but small and large powers of two are drawn equally often. */
int64_t chance_skewed(int64_t least, int64_t most);

/* Record a size of the world, and return it: `drawn`, or less if the world is a smaller one. */
int64_t world_size(enum smaller_size size, int64_t drawn);

/* Is one more allowed by the world's size? If so, count it. */
bool world_has_room(enum smaller_size size);

/* ---- events ---- */

/* Plan the event for `at_ns`, or for now if `at_ns` is in the past. An event that is already
 * planned moves to the new time. */
void event_plan(struct event *event, int64_t at_ns);
void event_drop(struct event *event); /* the event need not be planned */

/* ---- clocks ---- */

/* The time of the clock of `site` now; and the world time at which this clock reaches `local_ns`,
 * now at the earliest. */
int64_t site_clock_ns(const struct site *site);
int64_t site_world_ns(const struct site *site, int64_t local_ns);
int64_t site_wall_us(const struct site *site);

/* ---- trace ---- */

/* Record an event in the trace: `what` with two numbers. */
void trace(const char *what, int64_t a, int64_t b);
void trace_bytes(const char *what, int64_t a, const char *bytes, size_t len);

/* Print a line for readers if the trace is printed; the line is not in the hash. */
void tell(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* End the seed with this verdict; only the first call counts. */
void world_condemn(enum verdict verdict, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

const char *world_verdict_name(enum verdict verdict);

#endif /* SIMULATION_WORLD_H */
