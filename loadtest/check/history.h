/* SPDX-License-Identifier: MIT */
/* history.h -- a history in memory: the calls to the locks of a run, with owner, times and
 * answer, and the faults.
 *
 * A history comes from the files of a run (history_read.c), from a text that people write
 * (history_text.c), or from a test that adds calls one by one.
 *
 * Times are nanoseconds of one clock; a test may use any numbers, because times are only compared
 * and added.  The recorders have subtracted the drift of clocks from the deadlines.
 *
 * Threads     A history belongs to one thread.
 */
#ifndef LOADTEST_CHECK_HISTORY_H
#define LOADTEST_CHECK_HISTORY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lock/dlock.h"
#include "lock/record/record.h"

#define HISTORY_NEVER INT64_MAX
/* Every other time and duration is between 0 and this, so that a few of them can be added
 * up: 18 years, if it is nanoseconds. */
#define HISTORY_TIME_MAX (INT64_MAX / 16)

/* The variant of a file of faults, with which its name begins too. */
#define HISTORY_LABORATORY "laboratory"

/* A lock system of a process.  A process with several lock systems counts several times. */
struct history_process {
    char uuid[40];
    char variant[32];
    char label[24];      /* its name for people; "": its pid is used                  */
    uint32_t pid;
    unsigned caps;
    int64_t lease_ns;
    bool watchdog;
    uint32_t handover;   /* hand-overs inside the process after a grant of the store, at most */
    bool is_closed;      /* its file is marked as complete                            */
    bool has_hole;       /* some of its records are missing, anywhere                 */
    uint64_t unsealed;   /* the number of records without a checksum                  */
    uint64_t dropped;    /* the number of records that did not fit into the file      */
    int64_t dropping_ns; /* the first was dropped then; HISTORY_NEVER: none was       */
    int64_t last_ns;     /* its last sign of life                                     */
};

struct history_call {
    uint8_t kind;        /* dlock_event_kind: ACQUIRE, RENEW, RELEASE, ABANDON, and
                          * those of semaphores, permits and latches                  */
    uint8_t mode;        /* DLOCK_MODE_*                                              */
    bool is_answered;    /* if not, `status` means nothing and answer_ns is NEVER     */
    int level;           /* of re-entry, from 1; 0: not said                          */
    dlock_status status;
    uint32_t process, name; /* indices                                                */
    uint32_t order;      /* set by history_add_call(): the number of the call         */
    uint64_t owner;
    int64_t invoke_ns, answer_ns;
    int64_t sent_ns;     /* 0: not recorded.  If the process has a `handover`, a granted call
                          * with 0 was handed over by the holder before, and sent nothing */
    int64_t deadline_ns; /* of the grant, also of a grant that came after its lease;
                          * HISTORY_NEVER: no end                                     */
    int64_t wait_ns;     /* of acquires: 0 does not wait                              */
    int64_t lease_ns;
    uint64_t fence;      /* of a semaphore or latch: the number of permits or counts  */
    uint8_t token[DLOCK_RECORD_TOKEN_SIZE];
};

/* An event that is no call: LOST, WAIT, WAKE, FAULT. */
struct history_mark {
    uint8_t kind;
    uint8_t assumption;     /* of a fault */
    int detail;
    int64_t at_ns;
    uint32_t process, name; /* name: of the lock, or of the fault */
    uint64_t owner;         /* of a fault: the pid concerned, 0: a server */
};

/* Does the fault take effect at this mark?  It begins, or happens at an instant. */
static inline bool history_takes_effect(const struct history_mark *fault)
{
    return fault->detail == DLOCK_FAULT_HAS_BEGUN ||
           fault->detail == DLOCK_FAULT_HAPPENED;
}

/* A trace that a hold serves. */
struct history_trace {
    uint32_t process, id; /* id: index of a name                    */
    uint8_t token[DLOCK_RECORD_TOKEN_SIZE]; /* of the hold's acquire */
};

enum { HISTORY_DAMAGE_MAX = 240 };

struct history {
    struct history_process *processes;
    size_t process_count;
    struct history_call *calls; /* after history_sort(): by invoke_ns */
    size_t call_count;
    struct history_mark *marks; /* after history_sort(): by at_ns     */
    size_t mark_count;
    struct history_trace *traces; /* after history_sort(): by process and token */
    size_t trace_count;
    char **names;
    size_t name_count;
    char (*damages)[HISTORY_DAMAGE_MAX]; /* reasons for which the verdict cannot be valid */
    size_t damage_count;
    size_t nonsense_count; /* of the damages, those that no recorder can have caused */
    size_t unread_count; /* the files that cannot be read, or whose header is no recorder's */
    struct history_names *index; /* private */
    size_t process_room, call_room, mark_room, trace_room, name_room, damage_room;
};

/* A zeroed struct is an empty history. */
void history_free(struct history *h);

/* Forget everything but keep the memory and the names. */
void history_clear(struct history *h);

/* Room for so many more calls and marks.  Room that is never used costs addresses, no
 * memory. */
void history_reserve(struct history *h, size_t calls, size_t marks);

/* Append an element with no data.  Without memory the program ends.  The answered pointer is valid
 * until the next element of its kind is added. */
struct history_process *history_add_process(struct history *h);
struct history_call *history_add_call(struct history *h);
struct history_mark *history_add_mark(struct history *h);
struct history_trace *history_add_trace(struct history *h);
/* The index of a name, which is made if it is new.  Names may hold any bytes. */
uint32_t history_name(struct history *h, const char *name, size_t length);
/* The index of that name; -1: there is none. */
int64_t history_find_name(const struct history *h, const char *name);
void history_damage(struct history *h, const char *fmt, ...)
    __attribute__((format(printf, 2, 3)));
/* Add a damage that neither a recorder nor a crash can have caused.  The text names the file, the
 * offset, and the value that was expected there. */
void history_nonsense(struct history *h, const char *fmt, ...)
    __attribute__((format(printf, 2, 3)));

/* Note that the process recorded an event at at_ns; HISTORY_NEVER: do nothing. */
void history_see(struct history *h, uint32_t process, int64_t at_ns);

/* Sort calls and marks by time.  Calls of one owner with the same time stay in the order in which
 * they were added.  Calls of several owners with the same time are sorted by owner, so that the
 * order does not depend on the order in which files were read. */
void history_sort(struct history *h);

/* The traces of the hold of the call; all calls of one hold have one token.  Answers the number of
 * traces from *first on, in the order in which they were added.  After history_sort(). */
size_t history_traces_of(const struct history *h, const struct history_call *call,
                         const struct history_trace **first);

/* Add every file of records in DIR, and sort.  False: there is no such directory, or it
 * cannot be read, with a line on stderr.  A file that is damaged, torn, incomplete or
 * of another version becomes a damage of the history. */
bool history_read(struct history *h, const char *dir);

/* Add a damage for each process that the run.json of the directory `run` names and whose file was
 * not read, for the file of the faults, and for a run.json that does not say how many processes
 * the run had.  To be called after history_read().  A directory without run.json says nothing about
 * its processes. */
void history_note_missing(struct history *h, const char *run);

/* Add the records of one file.  `bytes` is a copy of the file, aligned as malloc() aligns; `file`
 * is its name in the damages.  Does not sort. */
void history_read_bytes(struct history *h, const char *file, const void *bytes,
                        size_t size);

/* The same as history_read() from a text, one call or mark a line:
 *
 *     # a comment
 *     system p1 pid=41 variant=lua caps=exclusive,expires,owned lease=30 watchdog
 *     system p2 killed=50 dropped=3@40 handover=16
 *     10 p1 t1 acquire a -> 15 ok fence=3 until=40 level=1 wait=100 sent=12 shared
 *     17 p1 t1 renew a   -> 18 lost
 *     20 p1 t1 release a -> ?
 *     16 p1 t1 lost a
 *     16 p1 t1 abandon a
 *     12 p2 t2 wait a
 *     13 p2 t2 wait a given-up
 *     13 p2 t2 wake a told
 *     30 fault freeze begun process pid=41
 *     35 fault redis-restart happened store
 *     11 p1 t1 trace 4bf92f id=7
 *     damage the disk was full
 *
 *     10 p1 t1 sem-take s -> 11 ok n=2
 *     10 p1 t1 permit-take s -> 11 ok id=7 until=40
 *     10 p1 t1 latch-count l -> 11 ok n=1
 *
 * `-> ?`: no answer.  n: how many permits, or what is left of a latch's count.  id: of a
 * permit, and of a trace that of the hold's acquire.  A p that no `system` line names is made, with
 * the caps of HISTORY_TEXT_CAPS.  t is the number of the owner.  `lease` and times are plain
 * numbers of at most 18 years in ms.  A line may end with CR LF.  A line has each attribute once;
 * no lease ends before its acquire or renewal was called, and no process has a record after it was
 * killed.  False, with what is wrong and in which line in `error`. */
bool history_parse(struct history *h, const char *text, char *error, size_t size);

/* Multiply every time: for a text whose numbers are not nanoseconds. */
void history_scale(struct history *h, int64_t factor);

#define HISTORY_TEXT_CAPS                                                              \
    (DLOCK_CAP_EXCLUSIVE | DLOCK_CAP_LOCAL | DLOCK_CAP_EXPIRES | DLOCK_CAP_OWNED |     \
     DLOCK_CAP_RENEW | DLOCK_CAP_ATOMIC)

/* The phase of a fault as the text has it; "?": there is no such phase. */
const char *history_phase_name(int phase);

/* The name of a cap as the text has it, and back; 0 if there is none. */
const char *history_cap_name(unsigned cap);
unsigned history_cap_find(const char *name, size_t length);

#endif /* LOADTEST_CHECK_HISTORY_H */
