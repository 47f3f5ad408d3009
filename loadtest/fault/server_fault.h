/* SPDX-License-Identifier: MIT */
/* server_fault.h -- the contract for faults of servers of the lab.
 *
 * A fault is one file in faults/ and one line in faults.def.  The laboratory injects the
 * fault into a real server, and then asks the server: its answer proves that the fault
 * happened or is over, and scene->note has this proof.  If a fault cannot be injected or
 * proved, the call fails, with the reason and advice on stderr.
 *
 *     struct fault_scene scene = {.lab = &lab, .key = "lock:voucher:1"};
 *     const struct server_fault *fault = server_fault_find("redis-failover");
 *
 *     scene.server = lab_find_server(&lab, "redis");
 *     if (server_fault_arm(fault, &scene)) {   // before the lock is taken
 *         ...                                  // a client acquires lock:voucher:1
 *         if (server_fault_begin(fault, &scene))
 *             puts(scene.note);
 *         ...                                  // check the lock during the fault
 *         server_fault_end(fault, &scene);
 *     }
 *     server_fault_disarm(fault, &scene);      // always, at any stage
 *
 * Threads     A scene belongs to one thread.  Two scenes on different servers of a lab
 *             may be under way at once in one process, not in two threads.
 */
#ifndef LOADTEST_FAULT_SERVER_FAULT_H
#define LOADTEST_FAULT_SERVER_FAULT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "db/lab_db.h"
#include "loadtest/fault/history.h"
#include "loadtest/lab/lab.h"
#include "lock/record/record.h"

enum { FAULT_NOTE_MAX = 512, FAULT_BY_MAX_MS = 86400000, FAULT_PAUSE_MAX_MS = 60000 };

/* Sets of servers: (1u << kind). */
#define FAULT_ON(kind) (1u << (kind))
#define FAULT_ON_ALL (FAULT_ON(LAB_KIND_COUNT) - 1)

struct redis_side;

enum fault_stage { FAULT_IDLE, FAULT_ARMED, FAULT_BEGUN, FAULT_ENDED };

/* The servers that a fault works on, and how far it has come. */
struct fault_scene {
    struct lab *lab;
    struct lab_server *server;     /* of that lab                                     */
    const char *key;               /* the lock's name; may be NULL if not needed      */
    int64_t by_ms;                 /* clock: by how much; client-pause: for how long  */
    struct fault_history *history; /* NULL: it is not recorded                        */
    char *why;                     /* FAULT_NOTE_MAX bytes for the last complaint;
                                    * NULL: complaints go to stderr                   */

    char note[FAULT_NOTE_MAX];     /* out: the proof of the fault, by the server      */
    enum fault_stage stage;        /* private, as are the next                        */
    void *state;                   /* the fault's own, from arm or begin to disarm    */
    struct redis_side *side;       /* of fault_redis_open(), and ...                  */
    lab_db *db;                    /* server_fault_database(); closed after each step */
    bool is_down;                  /* the fault has ended the server                  */
};

struct server_fault {
    const char *name;    /* "redis-failover"                                          */
    const char *does;    /* one line                                                  */
    const char *needs;   /* a condition beside the server, for people; NULL: none     */
    unsigned servers;    /* the kinds that it can be done to: FAULT_ON(...)            */
    lab_topologies topologies; /* 0: to any such server; else to the leader of one of
                          * these, which needs not be named                            */
    dlock_assumption breaks[LAB_KIND_COUNT]; /* of a lease, by kind of server          */
    bool needs_key;
    int taken_ms;        /* begin waits so long for a client to take the lock; 0: not  */
    bool spares_others;  /* clients that use another lock or order are not affected   */
    int64_t by_min_ms, by_max_ms; /* by_ms must lie within; both 0: it has none        */
    int64_t by_over_ms;     /* by_ms must be farther from 0 than this                  */
    const char *by_example; /* a flag that gives a right by_ms; NULL: it has none      */

    /* MAY.  Prepare the fault before the victim takes its lock.  May restart the
     * server, with its data. */
    bool (*arm)(struct fault_scene *);
    /* MUST.  The fault has happened, and scene->note proves it, when this answers true. */
    bool (*begin)(struct fault_scene *);
    /* MUST, but for an instant.  When this answers true, the fault is over, the server works,
     * and the note says so. */
    bool (*end)(struct fault_scene *);
    /* MAY.  Undo the fault, so that the server is as before arm.  Called at any stage, also
     * after a failure, and with a zeroed state. */
    bool (*disarm)(struct fault_scene *);
};

/* Can this server have the fault: does it have the kind and the topology for it? */
bool server_fault_suits(const struct server_fault *fault, const struct lab_server *server);

/* The server that gets the fault if the user names none: the leader of the first topology that
 * the fault is for, else the first server that can have the fault and is in no topology with a
 * leader.  NULL: the lab has no such server. */
struct lab_server *server_fault_aim(const struct server_fault *fault, struct lab *lab);

/* True: the fault lasts until it is ended.  False: it is over as soon as it has happened. */
bool server_fault_lasts(const struct server_fault *fault);

/* Is by_ms one that the fault can be injected with and proven by? */
bool server_fault_takes(const struct server_fault *fault, int64_t by_ms);

/* Can the fault be injected: does the server run, can it have the fault, and are key and
 * by_ms as the fault needs them?  False: stderr has the reason and what to do. */
bool server_fault_fits(const struct server_fault *fault,
                       const struct fault_scene *scene);

/* All four: false with the reason and what to do on stderr.  After a failure only
 * server_fault_disarm() is left to be called.
 * arm     does nothing for a fault that needs no preparation
 * begin   arms first, if that was not done; the history says BEGUN before anything is
 *         made, and ENDED when an instant has been proven
 * end     the history says ENDED; fine, and does nothing, for an instant
 * disarm  ends first, if that was not done; fine at any stage, and twice */
bool server_fault_arm(const struct server_fault *fault, struct fault_scene *scene);
bool server_fault_begin(const struct server_fault *fault, struct fault_scene *scene);
bool server_fault_end(const struct server_fault *fault, struct fault_scene *scene);
bool server_fault_disarm(const struct server_fault *fault, struct fault_scene *scene);

/* --- for the files in faults/ --- */

/* printf into scene->why, or else to stderr as "seckill: SERVER: ..."; answer false. */
bool server_fault_complain(const struct fault_scene *scene, const char *fmt, ...)
    __attribute__((format(printf, 2, 3)));
/* printf at the end of the note. */
void server_fault_note(struct fault_scene *scene, const char *fmt, ...)
    __attribute__((format(printf, 2, 3)));
/* The fault's own memory, zeroed the first time; freed by server_fault_disarm(). */
void *server_fault_state(struct fault_scene *scene, size_t size);
/* A new connection to the lab's database, which is closed by the next call, or when the
 * step of the fault is over.  NULL: the reason is on stderr. */
lab_db *server_fault_database(struct fault_scene *scene);
/* SIGKILL; the server is gone when this returns.  A fault that ends it in another way
 * sets scene->is_down itself. */
bool server_fault_kill(struct fault_scene *scene);
/* Start it again, and wait, if it is down and does not run.  After the fault's disarm()
 * server_fault_disarm() does so in every case. */
bool server_fault_bring_up(struct fault_scene *scene);

#endif /* LOADTEST_FAULT_SERVER_FAULT_H */
