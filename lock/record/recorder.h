/* SPDX-License-Identifier: MIT */
/* recorder.h -- writes what happens to locks into a file that survives its process.
 *
 * The file is mapped and shared: what was written is in it even if the process is
 * killed the next instant.  The file does not survive a machine that loses power.
 *
 * Recording makes few system calls (three in 7936 records, when one thread makes room and
 * others that need it wait), and costs a fraction of a microsecond a call, half of it for
 * fresh pages of the file.  Checksums are computed once in 31 records.  A recorder that is
 * full or whose disk is full goes on counting what it had to drop; it never
 * fails the lock call.
 *
 * Threads     Any.  A child by fork() records nothing.
 */
#ifndef DLOCK_RECORDER_H
#define DLOCK_RECORDER_H

#include "lock/dlock.h"
#include "lock/record/about.h"
#include "lock/record/record.h"

typedef struct dlock_recorder dlock_recorder; /* opaque */

/* An event.  Unknown fields stay zero. */
typedef struct dlock_event {
    dlock_event_kind kind;
    int64_t time_ns;    /* when; 0: now                                      */
    dlock_status status; /* of an answer                                     */
    int mode;           /* DLOCK_MODE_*                                      */
    int level;
    const char *name;   /* borrowed; NULL: none                              */
    const char *number; /* of the owner, decimal; NULL: take `owner`         */
    uint64_t owner;
    const char *token;  /* DLOCK_TOKEN_LEN hex digits; NULL: none            */
    uint64_t fence;
    int64_t sent_ns;
    int64_t deadline_ns;
    int64_t wait_ms;    /* those beyond an int32_t are cut                   */
    int lease_ms;
    uint32_t detail;
} dlock_event;

/* Make DIR (but not its parents) if there is none, and a new file in it.
 *   OK       *out is the recorder, and OPEN is recorded
 *   INVALID  a limit too small for one block, a path that is too long, or a bare build
 *            (bare.h), which records nothing
 *   IO       the directory or the file cannot be made, or the disk is full;
 *            dlock_error() says which
 *   NOMEM    no memory, or no room for the mapping
 * On anything but OK *out is NULL. */
dlock_status dlock_recorder_open(dlock_recorder **out, const char *dir,
                                 const dlock_recorder_about *about) DLOCK_MUST_CHECK;

/* Record CLOSE and say in the file that it is complete.  NULL is fine.  No other thread
 * may be inside a call; in a child by fork() it leaves everything alone. */
void dlock_recorder_close(dlock_recorder *rec);

/* A call is about to be made: kind, mode, name, owner, wait_ms, lease_ms, and what else
 * is known.  Answers what dlock_recorder_end() needs; 0 if nothing was recorded.  A
 * NULL `rec` costs one branch. */
uint64_t dlock_recorder_begin(dlock_recorder *rec, const dlock_event *event);

/* The call was answered, and the caller is about to learn it: status, and of what was
 * granted owner, level, token, fence, sent_ns and deadline_ns.  An owner, a level and a
 * token that were said when it was begun need not be said again. */
void dlock_recorder_end(dlock_recorder *rec, uint64_t call, const dlock_event *answer);

/* A call is about to be made that gives back the hold that `acquire` was granted, by the
 * same thread and as the same owner, at level 1, at `time_ns` (0: now).  The
 * release takes no record of its own.  `acquire`: what dlock_recorder_begin() answered for it,
 * not 0, and dlock_recorder_end() was told OK.  Answers what dlock_recorder_end() needs, which
 * heeds only time_ns and status. */
uint64_t dlock_recorder_begin_release(dlock_recorder *rec, uint64_t acquire,
                                      int64_t time_ns);

/* Something happened that is no call. */
void dlock_recorder_note(dlock_recorder *rec, const dlock_event *event);

/* The number of records that found no room so far. */
uint64_t dlock_recorder_dropped(const dlock_recorder *rec);

/* The path of the file.  Valid while the recorder is. */
const char *dlock_recorder_path(const dlock_recorder *rec);

/* Names for events and assumptions; "?" for a value that is none. */
const char *dlock_event_name(int kind);
const char *dlock_assumption_name(int assumption);
const char *dlock_assumption_text(int assumption);

#endif /* DLOCK_RECORDER_H */
