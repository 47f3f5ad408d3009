/* SPDX-License-Identifier: MIT */
/* world.h -- the simulated world of one seed: its time, its chance, its events, its clocks,
 * its trace, and its end.
 *
 * All that happens is an event at an instant.  Time stands still while an event runs, and
 * jumps to the next event.  The seed alone decides what chance draws, so the same seed plays
 * the same events with the same hash of its trace.
 *
 * There is one world in a process: a seed is played in a process of its own (batch.h).
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

/* Something that happens.  Its owner keeps it in place while it is planned. */
struct event {
    void (*run)(void *arg);
    void *arg;
    int64_t at_ns;
    uint64_t tie;  /* chance decides who is first at one instant */
    size_t place;  /* in the heap, from 1; 0: it is not planned  */
};

/* A machine with a clock of its own: a simulated process, or a server. */
struct site {
    int number;          /* from 0, servers behind the processes           */
    int64_t offset_ns;   /* of the clock when the world began              */
    int64_t drift_ppb;   /* so many ns more in each second of world time   */
    int64_t wall_ms;     /* what the wall clock is ahead of the true time  */
    int64_t stands_until_ns; /* its tasks and commands stand still until then */
    bool is_dead;        /* its tasks run no more                          */
    unsigned fork_count; /* forks between the world's begin and the process */
};

enum { WORLD_TEXT = 240 };

/* What became of a seed. */
enum verdict { FINE, OVERLAP, FENCE, ASLEEP, SHUT, LOST_IN_CALM, HANG, ENDLESS, CRASH,
               NOT_KNOWN, OVERDRAWN, MISCOUNT, EARLY, TWICE, UNHELD, OVERSOLD, LOST_UPDATE,
               DUPLICATE, PROMISE, UNDERSOLD, AUDIT, VERDICT_COUNT };

/* What is known of a seed when it has ended; in memory that its parent shares. */
struct account {
    uint64_t hash;
    enum verdict verdict;
    char text[WORLD_TEXT]; /* of a verdict that is not FINE */
    uint64_t calls, commands, faults, switches;
    int64_t sizes[SIZE_COUNT]; /* what the world had of each */
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

/* Begin the world of `seed`, or a smaller one (NULL: the whole); what comes of it is written into
 * `account`. */
void world_begin(uint64_t seed, const struct smaller *less, struct account *account,
                 bool is_told);

/* Run events until the world is over or nothing is planned. */
void world_run(void);

/* ---- chance ---- */

uint64_t chance_draw(void);
int64_t chance_between(int64_t least, int64_t most); /* both may come */
bool chance_one_in(uint32_t count);

/* The same, but of each power of two as often as of another. */
int64_t chance_skewed(int64_t least, int64_t most);

/* As many of that size as were drawn, or as the world may have; and note it. */
int64_t world_size(enum smaller_size size, int64_t drawn);

/* May one more come?  Then it is counted. */
bool world_has_room(enum smaller_size size);

/* ---- events ---- */

/* Plan the event for `at_ns`, or for now if `at_ns` is over.  An event that was planned already
 * moves to the new time. */
void event_plan(struct event *event, int64_t at_ns);
void event_drop(struct event *event); /* need not be planned */

/* ---- clocks ---- */

/* What the clock of `site` says now, and when it will say `local_ns` (at the earliest now). */
int64_t site_clock_ns(const struct site *site);
int64_t site_world_ns(const struct site *site, int64_t local_ns);
int64_t site_wall_us(const struct site *site);

/* ---- trace ---- */

/* Note what happens: `what` with two numbers. */
void trace(const char *what, int64_t a, int64_t b);
void trace_bytes(const char *what, int64_t a, const char *bytes, size_t len);

/* For who reads: printed if the trace is, and not in the hash. */
void tell(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* The seed has ended with this verdict; the first one counts. */
void world_condemn(enum verdict verdict, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

const char *world_verdict_name(enum verdict verdict);

#endif /* SIMULATION_WORLD_H */
