/* SPDX-License-Identifier: MIT */
/* recording.h -- how the core tells the recorder of its calls.  Without a recorder each
 * costs one branch; in a bare build (bare.h) it is nothing. */
#ifndef DLOCK_RECORDING_H
#define DLOCK_RECORDING_H

#include "lock/bare.h"
#include "lock/record/recorder.h"
#include "lock/system.h"

/* Open the recorder that the options ask for, if they do.  OK, or as
 * dlock_recorder_open(). */
dlock_status dlock_recording_open(dlock_system *sys);
void dlock_recording_close(dlock_system *sys);

/* The four functions below call these if there is a recorder. */
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

/* The hold of this lease serves that trace; only if there is a recorder. */
void dlock_recording_put_trace(const dlock_system *sys, const dlock_lease *lease,
                               const char *trace);

static inline bool dlock_recording_is_on(const dlock_system *sys)
{
    return !DLOCK_IS_BARE && __builtin_expect(sys->recorder != NULL, 0);
}

/* Before anything is sent for a call that was made at `made_ns`, 0: now.  Answers what
 * dlock_recording_end() needs. */
static inline uint64_t dlock_recording_begin(const dlock_system *sys,
                                             dlock_event_kind kind,
                                             const dlock_claim *claim, int64_t wait_ms,
                                             int64_t made_ns)
{
    return dlock_recording_is_on(sys)
               ? dlock_recording_put_begin(sys, kind, claim, wait_ms, made_ns)
               : 0;
}

/* The same for a release of `claim`, a level of a hold whose only level was asked for in
 * the call `acquire`; 0: it has more, or that was not recorded. */
static inline uint64_t dlock_recording_begin_release(const dlock_system *sys,
                                                     uint64_t acquire,
                                                     const dlock_claim *claim)
{
    if (__builtin_expect(acquire != 0, 0))
        return dlock_recorder_begin_release(sys->recorder, acquire, 0);
    return dlock_recording_begin(sys, DLOCK_EVENT_RELEASE, claim, 0, 0);
}

/* Before the caller learns the answer, which came at `answered_ns`, 0: now.  `sent_ns`:
 * when the last request was sent, from which the lease counts if the store gave one
 * (`is_leased`), be it too late; 0: the claim is that of the beginning. */
static inline void dlock_recording_end(const dlock_system *sys, uint64_t call,
                                       dlock_status st, const dlock_claim *claim,
                                       int64_t sent_ns, bool is_leased,
                                       int64_t answered_ns)
{
    if (__builtin_expect(call != 0, 0))
        dlock_recording_put_end(sys, call, st, claim, sent_ns, is_leased, answered_ns);
}

/* The same of an acquire that was given the lock inside the process: no request was sent,
 * and the end of the store's lease stays as it was. */
static inline void dlock_recording_end_given(const dlock_system *sys, uint64_t call,
                                             const dlock_claim *claim,
                                             int64_t deadline_ns, int64_t answered_ns)
{
    if (__builtin_expect(call != 0, 0))
        dlock_recording_put_end_given(sys, call, claim, deadline_ns, answered_ns);
}

/* LOST, WAIT or WAKE of the owner of the claim, at `at_ns`, 0: now. */
static inline void dlock_recording_mark(const dlock_system *sys, dlock_event_kind kind,
                                        const dlock_claim *claim, uint32_t detail,
                                        int64_t at_ns)
{
    if (dlock_recording_is_on(sys))
        dlock_recording_put_mark(sys, kind, claim, detail, at_ns);
}

#endif /* DLOCK_RECORDING_H */
