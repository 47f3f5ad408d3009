/* SPDX-License-Identifier: MIT */
/* crowd.h -- the processes of a simulated world and what their threads do with the locks.
 *
 * Chance decides the number of processes, threads and names, and for each round of a thread
 * the name, the wait, the lease, and what is done while the lock is held: work, a second
 * level, a renewal; then the lock is given back or abandoned.  When all rounds and all faults
 * are over, each thread has to get in once more. */
#ifndef SIMULATION_CROWD_H
#define SIMULATION_CROWD_H

#include "lock/dlock.h"
#include "lock/process.h"
#include "tests/simulation/network.h"

enum { THREADS_MAX = 4, NAMES_MAX = 3, NAME_SIZE = 16 };

/* The class of a world: which faults happen in it. */
enum class { CLASS_CALM, CLASS_NET, CLASS_CRASH, CLASS_PAUSE, CLASS_STORE, CLASS_CLOCK,
             CLASS_COUNT };

/* What is played. */
struct play {
    const dlock_variant_info *variant;
    enum class class;
    uint64_t seed;
    void (*begin)(void); /* in place of a crowd and its faults; NULL: those */
};

struct process {
    struct site site;
    struct dlock_process own;
    dlock_system *sys;   /* NULL: not open */
    int thread_count, ended_count;
    struct task *main;
    bool is_used, is_over;
    bool is_open;
};

struct crowd {
    const dlock_variant_info *variant;
    enum class class;
    struct process processes[PROCESSES_MAX];
    int process_count;   /* that have begun so far */
    char names[NAMES_MAX][NAME_SIZE];
    int name_count;
    int lease_ms;        /* of the systems */
    int round_count;     /* of each thread */
    int64_t faults_end_ns;
    bool works_late;     /* some hold on beyond their lease */
};

extern struct crowd crowd;

/* Plan the crowd of this play, and begin its processes. */
void crowd_begin(const struct play *play);

/* Begin one more process.  False: there are too many. */
bool crowd_add_process(void);

/* It is killed: nothing of it runs any more. */
void crowd_kill(struct process *process);

#endif /* SIMULATION_CROWD_H */
