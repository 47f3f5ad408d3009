/* SPDX-License-Identifier: MIT */
/* workload.h -- the processes of a simulated world and what their threads do with the locks.
 *
 * Chance decides the number of processes, threads and names, and the calls of each thread in its
 * rounds. When all rounds and all faults are over, each thread has to get the lock once more. */
#ifndef SIMULATION_WORKLOAD_H
#define SIMULATION_WORKLOAD_H

#include "lock/dlock.h"
#include "lock/dlock_async.h"
#include "lock/dlock_primitives.h"
#include "lock/process.h"
#include "tests/simulation/network.h"

enum { THREADS_MAX = 4, NAMES_MAX = 3, NAME_SIZE = 16 };

/* The class of a world: which faults happen in it. */
enum class { CLASS_CALM, CLASS_NET, CLASS_CRASH, CLASS_PAUSE, CLASS_STORE, CLASS_CLOCK,
             CLASS_COUNT };

/* A seed to be played. */
struct play {
    const dlock_variant_info *variant;
    enum class class;
    uint64_t seed;
    void (*begin)(void); /* replaces the workload and its faults; NULL: nothing does */
    const struct smaller *less; /* NULL: the whole world */
    const char *record_dir; /* for the files of the recorders; NULL: none */
};

struct process {
    struct site site;
    struct dlock_process own;
    dlock_system *sys;   /* NULL: not open */
    dlock_primitives *prims;
    dlock_async *async;  /* NULL: it has none */
    bool is_polled;      /* a task polls the interface */
    int lost_fd;          /* -1: the process did not ask for the descriptor */
    bool has_lost_fn;
    uint64_t lost_count;  /* the number of losses that were reported */
    int thread_count, ended_count;
    struct task *main;
    bool is_used, is_over;
    bool is_open;
};

/* The functions of a workload's processes. */
struct doings {
    void (*plan)(void);                    /* before the first process begins       */
    bool (*open)(struct process *process); /* on its main thread; false: try again later */
    void (*play)(struct process *process); /* in each thread, from its beginning to its end */
    void (*close)(struct process *process);
    void (*forget)(const struct process *process); /* after the process was killed; NULL: nothing */
};

extern const struct doings workload_locks, workload_semaphore, workload_permits, workload_latch;

struct workload {
    const struct doings *doings;
    const dlock_variant_info *variant;
    enum class class;
    struct process processes[PROCESSES_MAX];
    int process_count;   /* processes that have begun so far */
    char names[NAMES_MAX][NAME_SIZE];
    int name_count;
    int lease_ms;        /* of the systems */
    int round_count;     /* of each thread */
    int64_t faults_end_ns;
    bool is_handed_over; /* locks are handed over inside a process */
    bool works_late;     /* some threads work on beyond their lease */
};

extern struct workload workload;

/* Plan the workload of this play, and begin its processes. */
void workload_begin(const struct play *play);

/* Begin one more process.  False: there are too many. */
bool workload_add_process(void);

/* The same for a process that `parent` forks. */
bool workload_add_child(struct process *parent);

/* Kill the process: none of its tasks runs again. */
void workload_kill(struct process *process);

/* ---- for threads ---- */

/* Judge the answer of a call: a correct program has to expect it; and in calm the servers always
 * answer. */
void workload_check(const char *call, dlock_status st);

/* Pause for a random time of at most `most_ms`. */
void workload_pause_ms(int64_t most_ms);

/* Wait until the faults are over. */
void workload_await_end_of_faults(void);

#endif /* SIMULATION_WORKLOAD_H */
