/* SPDX-License-Identifier: MIT */
/* recording.h -- how the core tells the recorder of its calls.  Without a recorder each
 * function costs one branch. */
#ifndef DLOCK_RECORDING_H
#define DLOCK_RECORDING_H

#include "lock/record/recorder.h"
#include "lock/system.h"

/* Open the recorder, if the options name a directory for it.  OK also without one;
 * failures as dlock_recorder_open(). */
dlock_status dlock_recording_open(dlock_system *sys);
void dlock_recording_close(dlock_system *sys);

/* The inline functions below call these if there is a recorder. */
uint64_t dlock_recording_put_begin(const dlock_system *sys, dlock_event_kind kind,
                                   const dlock_claim *claim, int64_t wait_ms,
                                   int64_t made_ns);
void dlock_recording_put_end(const dlock_system *sys, uint64_t call, dlock_status st,
                             const dlock_claim *claim, int64_t sent_ns, bool is_leased,
                             int64_t answered_ns);
void dlock_recording_put_end_given(const dlock_system *sys, uint64_t call,
                                   const dlock_claim *claim, int64_t deadline_ns,
                                   int64_t answered_ns);
void dlock_recording_put_mark(const dlock_system *sys, dlock_event_kind kind,
                              const dlock_claim *claim, uint32_t detail, int64_t at_ns);

/* Record that the hold of `lease` serves `trace`.  Only if there is a recorder. */
void dlock_recording_put_trace(const dlock_system *sys, const dlock_lease *lease,
                               const char *trace);

static inline bool dlock_recording_is_on(const dlock_system *sys)
{
    return __builtin_expect(sys->recorder != NULL, 0);
}

/* Record that a call was made at `made_ns` (0: now).  The caller has sent no request of
 * the call yet.  Returns the number of the call for dlock_recording_end(); 0: not
 * recorded. */
static inline uint64_t dlock_recording_begin(const dlock_system *sys,
                                             dlock_event_kind kind,
                                             const dlock_claim *claim, int64_t wait_ms,
                                             int64_t made_ns)
{
    return dlock_recording_is_on(sys)
               ? dlock_recording_put_begin(sys, kind, claim, wait_ms, made_ns)
               : 0;
}

/* The same for a release of `claim`.  `acquire`: the number of the acquire of this
 * hold, if the hold has this one level; 0: it has more levels, or the acquire was not
 * recorded. */
static inline uint64_t dlock_recording_begin_release(const dlock_system *sys,
                                                     uint64_t acquire,
                                                     const dlock_claim *claim)
{
    if (__builtin_expect(acquire != 0, 0))
        return dlock_recorder_begin_release(sys->recorder, acquire, 0);
    return dlock_recording_begin(sys, DLOCK_EVENT_RELEASE, claim, 0, 0);
}

/* Record the answer `st`, which came at `answered_ns` (0: now).  The caller of the
 * library has not seen the answer yet.  `sent_ns`: the instant at which the last
 * request was sent; 0: the claim has not changed since dlock_recording_begin().
 * `is_leased`: the store granted a lease, which counts from sent_ns, or with TIMEOUT
 * granted the lock too late. */
static inline void dlock_recording_end(const dlock_system *sys, uint64_t call,
                                       dlock_status st, const dlock_claim *claim,
                                       int64_t sent_ns, bool is_leased,
                                       int64_t answered_ns)
{
    if (__builtin_expect(call != 0, 0))
        dlock_recording_put_end(sys, call, st, claim, sent_ns, is_leased, answered_ns);
}

/* The same for an acquire whose lock was handed over inside the process: no request was
 * sent, and deadline_ns is the end of the lease that the store had granted before. */
static inline void dlock_recording_end_given(const dlock_system *sys, uint64_t call,
                                             const dlock_claim *claim,
                                             int64_t deadline_ns, int64_t answered_ns)
{
    if (__builtin_expect(call != 0, 0))
        dlock_recording_put_end_given(sys, call, claim, deadline_ns, answered_ns);
}

/* Record LOST, WAIT or WAKE of the owner of the claim, at `at_ns` (0: now). */
static inline void dlock_recording_mark(const dlock_system *sys, dlock_event_kind kind,
                                        const dlock_claim *claim, uint32_t detail,
                                        int64_t at_ns)
{
    if (dlock_recording_is_on(sys))
        dlock_recording_put_mark(sys, kind, claim, detail, at_ns);
}

#endif /* DLOCK_RECORDING_H */
