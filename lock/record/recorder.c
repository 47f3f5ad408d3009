/* SPDX-License-Identifier: MIT */
/* recorder.c -- writes events into blocks of a file; each thread fills its own block.
 *
 * Thread-local memory has the thread's position in its block, for the two recorders
 * that the thread used last; programs have one.  When a thread ends, the rest of its
 * block stays empty. */
#include "lock/record/recorder.h"

#include <stdlib.h>
#include <string.h>

#include "base/os/clock.h"
#include "base/os/fork.h"
#include "base/os/thread.h"
#include "lock/process.h"
#include "lock/status.h"
#include "lock/record/file.h"
#include "lock/record/seal.h"

enum {
    MORE_SLOTS_MAX = 2,
    BLOCKS_CACHED = 2,
    TOKEN_WORDS = 4,
    CACHE_LINE = 64,
};

/* Rarely needed code is placed apart from the code of every record, because between two
 * records the kernel fills the instruction cache with its own code. */
#define COLD __attribute__((cold, noinline))

/* This bit marks an answer of dlock_recorder_begin_release(), besides the record's
 * index plus 1. */
#define IS_RELEASE (UINT64_C(1) << 63)

static_assert(DLOCK_NAME_MAX <=
                  DLOCK_RECORD_NAME_HERE + MORE_SLOTS_MAX * DLOCK_RECORD_NAME_MORE,
              "every name fits");
static_assert(DLOCK_RECORD_TOKEN_SIZE * 2 == DLOCK_TOKEN_LEN, "the whole token");

/* The fields that each call needs come first. */
struct dlock_recorder {
    dlock_record *slots; /* the file's */
    uint64_t id;         /* never used twice in a process */
    unsigned generation; /* see fork.h */
    struct dlock_record_file file;
};

/* A thread's position in its block. */
struct rest {
    uint64_t recorder; /* its id; 0: none */
    uint64_t next, end;
    uint64_t block;    /* the index of the block plus 1; not sealed yet; 0: none */
    uint32_t thread;   /* the kernel's number */
};

/* A forked child records nothing, so the thread number stays valid. */
static _Thread_local struct {
    struct rest rests[BLOCKS_CACHED];
    unsigned evict;
} here;

/* Begin the position of a thread that uses `rec` for the first time, or again after two
 * other recorders. */
static COLD struct rest *begin_rest(const dlock_recorder *rec)
{
    struct rest *rest = &here.rests[here.evict++ % BLOCKS_CACHED];

    *rest = (struct rest){.recorder = rec->id, .thread = dlock_thread_id()};
    return rest;
}

/* The calling thread's position in its block of `rec`; there may be no room left. */
static struct rest *rest_here(const dlock_recorder *rec)
{
    for (int i = 0; i < BLOCKS_CACHED; i++)
        if (here.rests[i].recorder == rec->id)
            return &here.rests[i];
    return begin_rest(rec);
}

/* Take a block for the calling thread.  False: the file is full, and the dropped record
 * is counted. */
static COLD bool take_block(dlock_recorder *rec, struct rest *rest)
{
    uint64_t block;

    if (rest->block != 0)
        dlock_record_seal_close(rec->slots, rest->block - 1,
                                (unsigned)(rest->next % DLOCK_RECORD_BLOCK_SLOTS), false);
    rest->block = rest->next = rest->end = 0;
    if (!dlock_record_file_take(&rec->file, &block))
        return false;
    dlock_record_seal_open(rec->slots, block, rest->thread);
    atomic_fetch_add(&rec->file.header->opened, 1);
    rest->block = block + 1;
    rest->next = block * DLOCK_RECORD_BLOCK_SLOTS;
    rest->end = rest->next + DLOCK_RECORD_BLOCK_RECORDS;
    return true;
}

/* Eight hex digits at once: each byte's low four bits are its value, and nine less than
 * it for letters. */
static void token_pack(uint8_t out[DLOCK_RECORD_TOKEN_SIZE], const char *token)
{
    for (int i = 0; i < TOKEN_WORDS; i++) {
        uint64_t digits;

        memcpy(&digits, token + 8 * i, sizeof(digits));
        digits = (digits & UINT64_C(0x0f0f0f0f0f0f0f0f)) +
                 ((digits >> 6) & UINT64_C(0x0101010101010101)) * 9;
        digits = (digits << 4 | digits >> 8) & UINT64_C(0x00ff00ff00ff00ff);
        digits = (digits | digits >> 8) & UINT64_C(0x0000ffff0000ffff);
        digits |= digits >> 16;
        memcpy(out + 4 * i, &digits, 4);
    }
}

static uint64_t owner_of(const dlock_event *event)
{
    uint64_t owner = 0;

    if (event->number == NULL)
        return event->owner;
    for (const char *c = event->number; *c >= '0' && *c <= '9'; c++)
        owner = owner * 10 + (uint64_t)(*c - '0');
    return owner;
}

static int32_t cut_wait_ms(int64_t wait_ms)
{
    if (wait_ms > INT32_MAX)
        return INT32_MAX;
    return wait_ms < 0 ? -1 : (int32_t)wait_ms;
}

/* Write the part of the name that did not fit, in the slots after `at`. */
static COLD void write_rest(dlock_recorder *rec, uint64_t at, const char *name,
                            size_t length)
{
    while (length > 0) {
        dlock_record_more *more = (dlock_record_more *)&rec->slots[++at];
        size_t part =
            length < DLOCK_RECORD_NAME_MORE ? length : DLOCK_RECORD_NAME_MORE;

        memcpy(more->name, name, part);
        atomic_store_explicit(&more->commit, DLOCK_RECORD_MORE + at,
                              memory_order_release);
        name += part;
        length -= part;
    }
}

static int64_t time_of(const dlock_event *event)
{
    return event->time_ns > 0 ? event->time_ns : dlock_clock_ns();
}

/* Write the facts that may be known at the beginning or at the end of a call.  A fact
 * that the end does not name again stays. */
static void write_known(dlock_record *record, const dlock_event *event)
{
    if (event->level > 0)
        record->level = (uint16_t)event->level;
    if (event->number != NULL || event->owner != 0)
        record->owner = owner_of(event);
    if (event->fence != 0)
        record->fence = event->fence;
    if (event->token != NULL)
        token_pack(record->token, event->token);
}

/* Write the facts that are known at the beginning and do not change. */
static void write_asked(dlock_record *record, const dlock_event *event, size_t length)
{
    record->kind = (uint8_t)event->kind;
    record->mode = (uint8_t)event->mode;
    record->name_length = (uint8_t)length;
    if (event->detail != 0)
        record->detail = event->detail;
    else
        record->wait_ms = cut_wait_ms(event->wait_ms);
    record->lease_ms = (uint32_t)event->lease_ms;
    record->time_ns = time_of(event);
}

/* Prefetch the cache lines of the thread's next record for writing, long before it is
 * written.  Another processor may have these lines, because it wrote the zeros.  A
 * store that waits for its line would delay the following stores, for example of the
 * next mutex. */
#if defined(__x86_64__)
__attribute__((target("prfchw")))
#endif
static void fetch_next(const dlock_recorder *rec)
{
    const struct rest *rest = rest_here(rec);
    const char *next = (const char *)&rec->slots[rest->next];

    if (rest->next == rest->end)
        return;
    __builtin_prefetch(next, 1);
    __builtin_prefetch(next + CACHE_LINE, 1);
}

/* The number of slots that a name takes, with its record. */
static unsigned slots_for(size_t length)
{
    if (length <= DLOCK_RECORD_NAME_HERE)
        return 1;
    return 1 + (unsigned)((length - DLOCK_RECORD_NAME_HERE + DLOCK_RECORD_NAME_MORE - 1) /
                          DLOCK_RECORD_NAME_MORE);
}

/* Write the event into its own slots, and commit it.  Returns the index of the first
 * slot plus 1; 0: it was dropped. */
static uint64_t put(dlock_recorder *rec, const dlock_event *event, uint64_t commit)
{
    size_t length = event->name != NULL ? strnlen(event->name, DLOCK_NAME_MAX) : 0;
    unsigned slots = slots_for(length);
    struct rest *rest = rest_here(rec);
    dlock_record *record;
    uint64_t at;

    if (rest->end - rest->next < slots && !take_block(rec, rest))
        return 0;
    at = rest->next;
    rest->next += slots;
    record = &rec->slots[at];
    write_asked(record, event, length);
    write_known(record, event);
    record->slots = (uint8_t)slots;
    record->thread = rest->thread;
    if (slots > 1)
        write_rest(rec, at, event->name + DLOCK_RECORD_NAME_HERE,
                   length - DLOCK_RECORD_NAME_HERE);
    if (length > 0)
        memcpy(record->name, event->name,
               slots > 1 ? DLOCK_RECORD_NAME_HERE : length);
    atomic_store_explicit(&record->commit, commit + at, memory_order_release);
    return at + 1;
}

static bool is_ours(const dlock_recorder *rec)
{
    return rec->generation == dlock_fork_generation();
}

uint64_t dlock_recorder_begin(dlock_recorder *rec, const dlock_event *event)
{
    return rec != NULL && is_ours(rec) ? put(rec, event, DLOCK_RECORD_BEGUN) : 0;
}

uint64_t dlock_recorder_begin_release(dlock_recorder *rec, uint64_t acquire,
                                      int64_t time_ns)
{
    dlock_record *record = &rec->slots[acquire - 1];

    if (!is_ours(rec))
        return 0;
    record->release_ns = time_ns > 0 ? time_ns : dlock_clock_ns();
    atomic_store_explicit(&record->commit, DLOCK_RECORD_RELEASING + acquire - 1,
                          memory_order_release);
    fetch_next(rec);
    return acquire | IS_RELEASE;
}

static void end_release(dlock_record *record, uint64_t at, const dlock_event *answer)
{
    record->release_status = (uint8_t)answer->status;
    record->released_ns = time_of(answer);
    atomic_store_explicit(&record->commit, DLOCK_RECORD_RELEASED + at,
                          memory_order_release);
}

void dlock_recorder_end(dlock_recorder *rec, uint64_t call, const dlock_event *answer)
{
    uint64_t at = (call & ~IS_RELEASE) - 1;
    dlock_record *record;

    if (rec == NULL || call == 0 || !is_ours(rec))
        return;
    record = &rec->slots[at];
    if (call & IS_RELEASE) {
        end_release(record, at, answer);
        return;
    }
    write_known(record, answer);
    record->status = (uint8_t)answer->status;
    record->sent_ns = answer->sent_ns;
    record->deadline_ns = answer->deadline_ns;
    record->answer_ns = time_of(answer);
    atomic_store_explicit(&record->commit, DLOCK_RECORD_DONE + at, memory_order_release);
}

void dlock_recorder_note(dlock_recorder *rec, const dlock_event *event)
{
    if (rec != NULL && is_ours(rec))
        (void)put(rec, event, DLOCK_RECORD_DONE);
}

uint64_t dlock_recorder_dropped(const dlock_recorder *rec)
{
    return atomic_load(&rec->file.header->dropped);
}

const char *dlock_recorder_path(const dlock_recorder *rec)
{
    return rec->file.path;
}

dlock_status dlock_recorder_open(dlock_recorder **out, const char *dir,
                                 const dlock_recorder_about *about)
{
    dlock_event event = {.kind = DLOCK_EVENT_OPEN};
    dlock_recorder *rec;
    dlock_status st;

    *out = NULL;
    rec = calloc(1, sizeof(*rec));
    if (rec == NULL)
        return dlock_fail(DLOCK_NOMEM, "no memory for the recorder");
    st = dlock_record_file_open(&rec->file, dir, about);
    if (st != DLOCK_OK) {
        free(rec);
        return st;
    }
    dlock_fork_watch();
    rec->slots = rec->file.slots;
    rec->id = atomic_fetch_add(&dlock_process_here()->last_recorder, 1) + 1;
    rec->generation = dlock_fork_generation();
    dlock_recorder_note(rec, &event);
    *out = rec;
    return DLOCK_OK;
}

void dlock_recorder_close(dlock_recorder *rec)
{
    dlock_event event = {.kind = DLOCK_EVENT_CLOSE};

    if (rec == NULL || !is_ours(rec))
        return;
    dlock_recorder_note(rec, &event);
    dlock_record_file_finish(&rec->file);
    dlock_record_file_close(&rec->file);
    free(rec);
}
