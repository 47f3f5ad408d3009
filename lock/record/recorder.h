/* SPDX-License-Identifier: MIT */
/* recorder.h -- writes each call to the locks into a file that survives its process.
 *
 * The file is a shared memory mapping, so a record is in the file as soon as it is
 * written, even if the process is killed the next instant.  A loss of power can destroy
 * the file.
 *
 * Recording costs a fraction of a microsecond for each call, half of it for new pages
 * of the file.  System calls are needed three times in 7936 records, when one thread
 * enlarges the file and others that need room wait.  A checksum is computed once in 31
 * records.  If the file or its disk is full, the recorder counts the records that it
 * drops; a lock call never fails because of that.
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
 *   INVALID  a limit too small for one block, or a path that is too long
 *   IO       the directory or the file cannot be made, or the disk is full;
 *            dlock_error() says which
 *   NOMEM    no memory, or no room for the mapping
 * On anything but OK *out is NULL. */
dlock_status dlock_recorder_open(dlock_recorder **out, const char *dir,
                                 const dlock_recorder_about *about) DLOCK_MUST_CHECK;

/* Record CLOSE and say in the file that it is complete.  NULL is fine.  No other thread
 * may be inside a call; in a child by fork() it leaves everything alone. */
void dlock_recorder_close(dlock_recorder *rec);

/* Record a call before its request is sent.  `event` has kind, mode, name, owner,
 * wait_ms, lease_ms, and the other fields if they are known.  Returns the number of the
 * call for dlock_recorder_end(); 0: nothing was recorded.  A NULL `rec` costs one
 * branch. */
uint64_t dlock_recorder_begin(dlock_recorder *rec, const dlock_event *event);

/* Record the answer of a call before its caller gets the answer.  `answer` has the
 * status, and after a grant also owner, level, token, fence, sent_ns and deadline_ns.
 * Owner, level and token can be left out if dlock_recorder_begin() was given them. */
void dlock_recorder_end(dlock_recorder *rec, uint64_t call, const dlock_event *answer);

/* Record the release of a hold of one level in the record of its acquire, before the
 * request is sent at `time_ns` (0: now).  `acquire`: the number of the acquire, not 0,
 * whose answer was OK, by the same thread and the same owner.  Returns the number of
 * the release for dlock_recorder_end(), which then reads only time_ns and status. */
uint64_t dlock_recorder_begin_release(dlock_recorder *rec, uint64_t acquire,
                                      int64_t time_ns);

/* Record an event that is no call. */
void dlock_recorder_note(dlock_recorder *rec, const dlock_event *event);

/* The number of records that found no room so far. */
uint64_t dlock_recorder_dropped(const dlock_recorder *rec);

/* The path of the file.  Valid while the recorder is. */
const char *dlock_recorder_path(const dlock_recorder *rec);

/* The name of an event, and the name and the text of an assumption; static.  "?": there
 * is no such value. */
const char *dlock_event_name(int kind);
const char *dlock_assumption_name(int assumption);
const char *dlock_assumption_text(int assumption);

#endif /* DLOCK_RECORDER_H */
