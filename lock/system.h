/* SPDX-License-Identifier: MIT */
/* system.h -- the struct of a system, for the files of the core. */
#ifndef DLOCK_SYSTEM_H
#define DLOCK_SYSTEM_H


#include "base/os/mutex.h"
#include "base/os/random.h"
#include "lock/dlock_variant.h"
#include "lock/holds.h"
#include "lock/metrics.h"
#include "lock/retry.h"

struct dlock_debts;
struct dlock_handover;
struct dlock_process;
struct dlock_recorder;
struct dlock_watchdog;

/* The version of a system's UUID is the digit at this place.  Ours is 8 and Redisson's
 * is 4, so lua/fair_acquire.lua can tell the owners of the two apart. */
enum { DLOCK_UUID_VERSION_AT = 14, DLOCK_UUID_OURS = '8' };

struct dlock_system {
    struct dlock_process *process; /* the process whose thread opened it; see
                                    * process.h */
    const dlock_variant *variant;
    void *state;             /* the variant's */
    dlock_options opts;      /* strings copied; see options.h */
    unsigned generation;     /* of the process that may use it; see fork.h */
    char uuid[DLOCK_UUID_LEN + 1];
    struct dlock_retry retry; /* opts.retry */
    struct dlock_holds *holds;
    struct dlock_handover *handover; /* NULL: every grant is the store's */
    struct dlock_watchdog *_Atomic watchdog; /* NULL: nothing to renew and no loss to
                                              * report */
    _Atomic int lost_fd_plus_1; /* 0: there is none */
    struct dlock_debts *_Atomic debts; /* NULL: none yet */
    struct dlock_mutex starting; /* held while the watchdog, lost_fd or the debts are
                                  * started */
    atomic_bool has_async; /* there is an asynchronous interface */
    struct dlock_recorder *recorder; /* NULL: nothing is recorded */
    struct dlock_tally metrics;
};

/* OK; or INVALID: `sys` is NULL or belongs to the parent process. */
dlock_status dlock_system_check(const dlock_system *sys);

#endif /* DLOCK_SYSTEM_H */
