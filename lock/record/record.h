/* SPDX-License-Identifier: MIT */
/* record.h -- the files that the recorder leaves: what every byte in them means.
 *
 * A run is a directory with one file per system.  A file is a header of
 * DLOCK_RECORD_HEADER_SIZE bytes and then slots of DLOCK_RECORD_SIZE bytes, in blocks
 * of DLOCK_RECORD_BLOCK_SLOTS.  A thread takes a whole block and fills it alone, so
 * slots that were never used lie between those that were, and records are in the order
 * of time within a block only.  Integers are in the byte order of the machine: the
 * clock is this machine's too, since its last start, and the header says which start it
 * was.
 *
 * A record is one slot, and each call has one record: the request is written before it
 * is sent, and the answer is added before the caller gets it.  If a hold has one level,
 * its release has no record of its own: the record of the acquire gets the times and
 * the answer of the release.  A lock's name that is too long for the record goes on in
 * the slots that follow, and is never cut, so two names never look alike.
 *
 * Each step of a call (begun, answered, release begun, release answered) is complete
 * when its commit word is written, which is done last.  A slot with content and without
 * a commit word is torn: the process was killed while it wrote.  A torn slot is
 * harmless, because the request had not been sent yet.  If the process was killed while
 * it wrote an answer, the call counts as unanswered: the caller had not got the answer.
 *
 * The last slot of a block is its seal.  The seal names the thread that fills the
 * block.  Once the block is full, the seal has the number of slots in use, and a
 * checksum of them.  The slots of unanswered calls and of locks that are still held
 * will change after that, so the seal lists them and leaves them out of the checksum.
 * When the file is closed, every block is sealed for good, with all its slots.  The
 * header has a checksum of its constant fields, the number of blocks that were opened,
 * and the number for which the file has room.  The close adds the number of slots in
 * use, and a checksum of the whole header.  So any damage to a closed file is found.
 * If the process was killed, damage in two places is not found: in the blocks that were
 * being filled, and in calls that were under way when their block was sealed.
 *
 * Version     3.  Version 2 has no seals: 32 records a block, and nothing after closed_ns
 *             in its header.  Append events, never renumber them; everything else
 *             needs a new DLOCK_RECORD_VERSION.  A reader that does not know an event
 *             names the record, and refuses the file.
 */
#ifndef DLOCK_RECORD_H
#define DLOCK_RECORD_H

#include <assert.h>
#include <stdatomic.h>
#include <stdint.h>

#define DLOCK_RECORD_MAGIC "dlockrec"
#define DLOCK_RECORD_SUFFIX ".dlockrec"

enum {
    DLOCK_RECORD_VERSION = 3,
    DLOCK_RECORD_SIZE = 128,
    DLOCK_RECORD_HEADER_SIZE = 4096,
    DLOCK_RECORD_BLOCK_SLOTS = 32,
    DLOCK_RECORD_BLOCK_RECORDS = 31, /* the seal is the last slot        */
    DLOCK_RECORD_NAME_HERE = 20,  /* bytes of a name in the record itself */
    DLOCK_RECORD_NAME_MORE = 120, /* in each slot that follows            */
    DLOCK_RECORD_TOKEN_SIZE = 16,
};

/* The events that a record tells of: id, value, name, meaning.  `name` is that of the
 * lock if not said otherwise. */
#define DLOCK_EVENTS(X)                                                                \
    X(OPEN, 1, "open", "the system was opened")                                        \
    X(CLOSE, 2, "close", "the system was closed")                                      \
    X(ACQUIRE, 3, "acquire", "a call that asks for the lock")                          \
    X(RENEW, 4, "renew", "a lease is extended, by its owner or the watchdog")          \
    X(RELEASE, 5, "release", "a level of a hold is given back")                        \
    X(ABANDON, 6, "abandon", "a hold is left to the end of its lease")                 \
    X(LOST, 7, "lost", "the holder learns that it holds no longer")                    \
    X(WAIT, 8, "wait", "an acquire waits; detail: a dlock_wait_phase")                 \
    X(WAKE, 9, "wake", "a waiter tries again; detail 1: because it was told to")       \
    X(FAULT, 10, "fault", "name: what; detail: a dlock_fault_phase; level: a "         \
                          "dlock_assumption; owner: the pid concerned, 0: a server")           \
    X(SEM_SET, 11, "sem-set", "a semaphore is made, also of permits; fence: how many")       \
    X(SEM_TAKE, 12, "sem-take", "free permits are taken; fence: how many")                   \
    X(SEM_GIVE, 13, "sem-give", "permits are given back; fence: how many")                   \
    X(SEM_ADD, 14, "sem-add", "permits are made or taken away; fence: how many more, or 0")  \
    X(SEM_DRAIN, 15, "sem-drain", "all free permits are taken; fence: how many")             \
    X(PERMIT_TAKE, 16, "permit-take", "a permit with an end is taken; token: which")         \
    X(PERMIT_RENEW, 17, "permit-renew", "the end of a permit is set anew")                   \
    X(PERMIT_GIVE, 18, "permit-give", "a permit is given back")                              \
    X(LATCH_SET, 19, "latch-set", "a latch is made, closed; fence: its count")               \
    X(LATCH_COUNT, 20, "latch-count", "a latch is counted down; fence: the count left")      \
    X(LATCH_WAIT, 21, "latch-wait", "a wait until a latch is open")                          \
    X(LATCH_DELETE, 22, "latch-delete", "a latch is removed without being opened")           \
    X(TRACE, 23, "trace", "a hold serves a trace; name: its id; token: that of the hold")

typedef enum {
#define X(id, value, name, text) DLOCK_EVENT_##id = value,
    DLOCK_EVENTS(X)
#undef X
} dlock_event_kind;

/* The phases of a waiting acquire: has it a place in the store's queue? */
typedef enum {
    DLOCK_WAIT_BEGUN = 0,    /* refused for the first time, or for the first time after
                              * GIVEN_UP */
    DLOCK_WAIT_GIVEN_UP = 1, /* the request sent at this instant was not answered as
                              * expected: a place or a grant that it may have left was
                              * released */
} dlock_wait_phase;

/* The phases of a fault record; BEGUN is recorded before the fault is made, ENDED after
 * it is over. */
typedef enum {
    DLOCK_FAULT_IS_ARMED = 1,
    DLOCK_FAULT_HAS_BEGUN = 2,
    DLOCK_FAULT_HAS_ENDED = 3,
    DLOCK_FAULT_HAPPENED = 4, /* at this instant, and has no end of its own: a kill */
} dlock_fault_phase;

/* The assumptions under which a lease protects its holder: id, value, name, text.  A
 * fault record names the assumption that the fault breaks. */
#define DLOCK_ASSUMPTIONS(X)                                                           \
    X(NONE, 0, "none", "no assumption of a lease")                                     \
    X(WORK, 1, "work", "the work ends within its lease")                               \
    X(PROCESS, 2, "process", "the process does not stop for long")                     \
    X(STORE, 3, "store", "the store keeps what it has granted")                        \
    X(CLOCK, 4, "clock", "the clocks run alike")                                       \
    X(WATCHDOG, 5, "watchdog", "the watchdog renews in time")                          \
    X(RELEASE, 6, "release", "nobody frees what another holds")                        \
    X(NETWORK, 7, "network", "requests and answers arrive in time")                    \
    X(SESSION, 8, "session", "the session of a living holder lasts")                   \
    X(LOCK, 9, "lock", "the lock admits one at a time")

typedef enum {
#define X(id, value, name, text) DLOCK_ASSUMES_##id = value,
    DLOCK_ASSUMPTIONS(X)
#undef X
    DLOCK_ASSUMPTION_COUNT
} dlock_assumption;

/* The kind of the request for a lock. */
enum { DLOCK_MODE_EXCLUSIVE = 0, DLOCK_MODE_SHARED = 1 };

/* A commit word is one of these plus the index of the slot.
 *   BEGUN      a call without an answer yet
 *   DONE       a call with its answer, or an event that is no call
 *   MORE       a slot in which a name goes on
 *   RELEASING  an answered acquire whose hold is being released
 *   RELEASED   the same, with the answer to the release
 *   OPENED     a seal: the block is being filled
 *   SEALED     a seal: the block has its checksum */
#define DLOCK_RECORD_BEGUN UINT64_C(0xd10b000000000000)
#define DLOCK_RECORD_DONE UINT64_C(0xd10c000000000000)
#define DLOCK_RECORD_MORE UINT64_C(0xd10d000000000000)
#define DLOCK_RECORD_RELEASING UINT64_C(0xd10e000000000000)
#define DLOCK_RECORD_RELEASED UINT64_C(0xd10f000000000000)
#define DLOCK_RECORD_OPENED UINT64_C(0xd110000000000000)
#define DLOCK_RECORD_SEALED UINT64_C(0xd111000000000000)

/* The fields that change after the first write come first, so that they share one cache
 * line, except fields that few variants fill. */
typedef struct dlock_record {
    _Atomic uint64_t commit;
    int64_t time_ns;     /* CLOCK_BOOTTIME; of a call: when it was made               */
    int64_t answer_ns;   /* of a call: when it was answered                           */
    int64_t release_ns;  /* of an acquire: when the release was made                  */
    int64_t released_ns; /* and answered                                              */
    int64_t sent_ns;     /* when the last request was sent; 0: unknown, or, of what
                          * was granted inside the process, none was             */
    int64_t deadline_ns; /* of granted acquires and renewals; INT64_MAX: none.  With
                          * TIMEOUT: the store's grant came too late                  */
    uint8_t kind;        /* dlock_event_kind                                          */
    uint8_t status;      /* dlock_status: the answer                                  */
    uint8_t release_status;
    uint8_t mode;        /* DLOCK_MODE_*                                              */
    uint8_t slots;       /* 1, and one for each slot in which the name goes on        */
    uint8_t name_length; /* in bytes                                                  */
    uint16_t level;      /* of re-entry, from 1; 0: unknown                           */
    uint64_t owner;      /* the number part of the owner; the header has the uuid     */
    uint64_t fence;      /* 0: none                                                   */
    union {
        int32_t wait_ms; /* of acquires: as asked for                                 */
        uint32_t detail; /* of an event that is no call                               */
    };
    uint32_t lease_ms;
    uint32_t thread;     /* the kernel's number                                       */
    uint8_t token[DLOCK_RECORD_TOKEN_SIZE];
    char name[DLOCK_RECORD_NAME_HERE]; /* no NUL */
} dlock_record;

typedef struct dlock_record_more {
    _Atomic uint64_t commit;
    char name[DLOCK_RECORD_NAME_MORE];
} dlock_record_more;

typedef struct dlock_record_seal {
    _Atomic uint64_t commit;
    uint32_t thread;   /* the kernel's number of the thread that fills the block      */
    uint32_t used;     /* slots                                                       */
    uint32_t open;     /* set of 1 << slot: left out of the checksum                  */
    uint32_t checksum; /* CRC32C of those of the slots, and of the above; see
                        * seal.c                                                      */
    char padding[104];
} dlock_record_seal;

static_assert(sizeof(dlock_record_seal) == DLOCK_RECORD_SIZE, "a seal is one slot");
static_assert(sizeof(dlock_record) == DLOCK_RECORD_SIZE, "a record is one slot");
static_assert(sizeof(dlock_record_more) == DLOCK_RECORD_SIZE, "a record is one slot");

typedef struct dlock_record_header {
    char magic[8]; /* written last, when the rest is complete */
    uint32_t version;
    uint32_t header_size;
    uint32_t record_size;
    uint32_t block_slots;
    int32_t clock;    /* CLOCK_BOOTTIME                                               */
    uint32_t pid;
    int64_t start_ns; /* on that clock                                                */
    int64_t start_wall_ms;
    char boot[40];    /* which start of the machine the clock counts from             */
    char uuid[40];
    char variant[32];
    uint32_t caps;    /* set of dlock_caps                                            */
    uint32_t lease_ms;
    uint8_t watchdog; /* 1: the system has a watchdog                                 */
    uint8_t padding[3];
    uint32_t handover; /* dlock_options.handover                                      */
    /* The fields from here on change while the file is written. */
    _Atomic uint64_t blocks;     /* taken by threads                                  */
    _Atomic uint64_t dropped;    /* records that found no room; above 0: a history
                                  * with holes                                        */
    _Atomic int64_t dropping_ns; /* when the first was dropped; 0: none               */
    _Atomic int32_t drop_errno;  /* why; 0: the size limit                            */
    int32_t padding_2;
    _Atomic int64_t closed_ns;   /* 0: still open, or killed; written last            */
    _Atomic uint64_t opened;     /* blocks whose seal was begun                       */
    _Atomic uint64_t grown;      /* blocks that the file has room for                 */
    uint64_t records;            /* slots in use, when it was closed                  */
    uint32_t head_checksum;      /* of what is above `blocks`                         */
    uint32_t close_checksum;     /* of all above, when it was closed; before, 0       */
} dlock_record_header;

static_assert(sizeof(dlock_record_header) <= DLOCK_RECORD_HEADER_SIZE, "fits");

#endif /* DLOCK_RECORD_H */
