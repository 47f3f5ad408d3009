/* SPDX-License-Identifier: MIT */
/* seal.c -- seals blocks: when the thread needs the next block, and again when the file
 * is closed.  So most calls compute no checksum. */
#include "lock/record/seal.h"

#include <stddef.h>
#include <string.h>

#include "lock/record/crc32c.h"
#include "lock/dlock.h"

static_assert((int)DLOCK_CRC32C_PART == (int)DLOCK_RECORD_SIZE, "a part is a slot");

static uint64_t place_of(uint64_t block)
{
    return block * DLOCK_RECORD_BLOCK_SLOTS + DLOCK_RECORD_BLOCK_RECORDS;
}

void dlock_record_seal_open(dlock_record *slots, uint64_t block, uint32_t thread)
{
    dlock_record_seal *seal = dlock_record_seal_of(slots, block);

    seal->thread = thread;
    atomic_store_explicit(&seal->commit, DLOCK_RECORD_OPENED + place_of(block),
                          memory_order_release);
}

/* Will this record be written to again? */
static bool is_open(const dlock_record *record, uint64_t at)
{
    uint64_t stage = atomic_load_explicit(&record->commit, memory_order_acquire) - at;

    if (stage == DLOCK_RECORD_DONE)
        return record->kind == DLOCK_EVENT_ACQUIRE && record->status == DLOCK_OK;
    return stage == DLOCK_RECORD_BEGUN || stage == DLOCK_RECORD_RELEASING;
}

static uint32_t find_open(const dlock_record *slots, uint64_t block, unsigned used)
{
    uint64_t at = block * DLOCK_RECORD_BLOCK_SLOTS;
    uint32_t open = 0;

    for (unsigned i = 0; i < used; i++)
        if (is_open(&slots[at + i], at + i))
            open |= UINT32_C(1) << i;
    return open;
}

/* Compute the checksum of each slot, and then that of these checksums and the other
 * fields of the seal.  Open slots may be written to meanwhile, and are left out. */
static uint32_t sum_of(const dlock_record *slots, uint64_t block, unsigned used,
                       uint32_t open, uint32_t thread)
{
    struct {
        uint32_t parts[DLOCK_RECORD_BLOCK_RECORDS];
        uint32_t used, open, thread;
        uint64_t block;
    } sums = {.used = used, .open = open, .thread = thread, .block = block};
    const dlock_record *first = &slots[block * DLOCK_RECORD_BLOCK_SLOTS];
    unsigned at = 0, end;

    static_assert(sizeof(sums) == (DLOCK_RECORD_BLOCK_RECORDS + 3) * sizeof(uint32_t) +
                                      sizeof(uint64_t),
                  "nothing between");

    while (at < used) {
        if (open >> at & 1) {
            at++;
            continue;
        }
        for (end = at + 1; end < used && !(open >> end & 1); end++)
            ;
        dlock_crc32c_parts(&first[at], end - at, &sums.parts[at]);
        at = end;
    }
    return dlock_crc32c(&sums, sizeof(sums));
}

void dlock_record_seal_close(dlock_record *slots, uint64_t block, unsigned used,
                             bool is_last)
{
    dlock_record_seal *seal = dlock_record_seal_of(slots, block);
    uint32_t open = is_last ? 0 : find_open(slots, block, used);

    /* A process that is killed in between leaves an open block. */
    atomic_store_explicit(&seal->commit, DLOCK_RECORD_OPENED + place_of(block),
                          memory_order_relaxed);
    atomic_signal_fence(memory_order_seq_cst);
    seal->used = used;
    seal->open = open;
    seal->checksum = sum_of(slots, block, used, open, seal->thread);
    atomic_store_explicit(&seal->commit, DLOCK_RECORD_SEALED + place_of(block),
                          memory_order_release);
}

static unsigned count_used(const dlock_record *slots, uint64_t block)
{
    const dlock_record *first = &slots[block * DLOCK_RECORD_BLOCK_SLOTS];
    unsigned used = DLOCK_RECORD_BLOCK_RECORDS;

    while (used > 0 && first[used - 1].commit == 0)
        used--;
    return used;
}

uint64_t dlock_record_seal_all(dlock_record *slots, uint64_t blocks)
{
    uint64_t records = 0;

    for (uint64_t block = 0; block < blocks; block++) {
        const dlock_record_seal *seal = dlock_record_seal_of(slots, block);

        if (seal->commit != DLOCK_RECORD_SEALED + place_of(block) || seal->open != 0)
            dlock_record_seal_close(slots, block, count_used(slots, block), true);
        records += seal->used;
    }
    return records;
}

uint32_t dlock_record_seal_sum(const dlock_record *slots, uint64_t block)
{
    const dlock_record_seal *seal = dlock_record_seal_of(slots, block);
    unsigned used = seal->used;

    if (used > DLOCK_RECORD_BLOCK_RECORDS)
        return ~seal->checksum;
    return sum_of(slots, block, used, seal->open, seal->thread);
}

uint32_t dlock_record_head_sum(const dlock_record_header *header)
{
    return dlock_crc32c(header, offsetof(dlock_record_header, blocks));
}

uint32_t dlock_record_close_sum(const dlock_record_header *header)
{
    return dlock_crc32c(header, offsetof(dlock_record_header, close_checksum));
}
