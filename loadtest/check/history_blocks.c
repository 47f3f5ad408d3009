/* SPDX-License-Identifier: MIT */
/* history_blocks.c -- the blocks of a file of records, and the seals that prove them
 * whole.
 *
 * In a file that was closed every block has a seal.  A file whose process was killed ends
 * without: each thread may have a block that was not full, or that it had just taken. */
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>

#include "loadtest/check/history_file.h"
#include "lock/record/seal.h"

enum { DROPPED_BLOCKS = 256 }; /* a MiB */
enum { BLOCK_BYTES = DLOCK_RECORD_SIZE * DLOCK_RECORD_BLOCK_SLOTS };

/* The findings in all blocks. */
struct tally {
    uint64_t opened, records;
};

static uint64_t byte_of(uint64_t block)
{
    return history_offset_of(block * DLOCK_RECORD_BLOCK_SLOTS);
}

static bool is_blank_block(const struct reading *r, uint64_t block)
{
    static const char zeros[BLOCK_BYTES];

    return memcmp(&r->slots[block * DLOCK_RECORD_BLOCK_SLOTS], zeros, BLOCK_BYTES) == 0;
}

static void read_sealed(struct reading *r, uint64_t block, struct tally *tally)
{
    const dlock_record_seal *seal = dlock_record_seal_of(r->slots, block);
    uint64_t at = block * DLOCK_RECORD_BLOCK_SLOTS;

    if (dlock_record_seal_sum(r->slots, block) != seal->checksum) {
        history_hole(r, "byte %" PRIu64 ": a block of %d bytes was altered: its checksum "
                        "differs", byte_of(block), BLOCK_BYTES);
        return;
    }
    if (seal->open != 0 && r->header->closed_ns != 0)
        history_hole(r, "byte %" PRIu64 ": a block is not sealed for good in a complete "
                        "file", byte_of(block));
    tally->records += seal->used;
    for (uint32_t open = seal->open; open != 0; open &= open - 1)
        r->h->processes[r->process].unsealed++;
    history_read_slots(r, at, at + seal->used);
}

static void read_opened(struct reading *r, uint64_t block)
{
    uint64_t at = block * DLOCK_RECORD_BLOCK_SLOTS;

    if (r->header->closed_ns != 0) {
        history_hole(r, "byte %" PRIu64 ": a block was not sealed in a complete file",
                     byte_of(block));
        return;
    }
    for (uint64_t i = at; i < at + DLOCK_RECORD_BLOCK_RECORDS; i++)
        r->h->processes[r->process].unsealed += history_is_record(r, i);
    history_read_slots(r, at, at + DLOCK_RECORD_BLOCK_RECORDS);
}

static void read_block(struct reading *r, uint64_t block, struct tally *tally)
{
    const dlock_record_seal *seal = dlock_record_seal_of(r->slots, block);
    uint64_t place = block * DLOCK_RECORD_BLOCK_SLOTS + DLOCK_RECORD_BLOCK_RECORDS;

    if (seal->commit == DLOCK_RECORD_SEALED + place) {
        tally->opened++;
        read_sealed(r, block, tally);
    } else if (seal->commit == DLOCK_RECORD_OPENED + place) {
        tally->opened++;
        read_opened(r, block);
    } else if (!is_blank_block(r, block)) {
        history_hole(r, "byte %" PRIu64 ": expected the seal of block %" PRIu64
                        ", and found that of another, or none", byte_of(block), block);
    } else if (r->header->closed_ns != 0) {
        history_hole(r, "byte %" PRIu64 ": a block is missing, there are zeros",
                     byte_of(block));
    }
}

/* A process that was killed may have taken blocks without beginning them, at most as many
 * as the file's header says. */
static void compare(struct reading *r, const struct tally *tally)
{
    const dlock_record_header *header = r->header;

    if (tally->opened < header->opened)
        history_hole(r, "blocks are missing: %" PRIu64 " were begun, and %" PRIu64
                        " are there", (uint64_t)header->opened, tally->opened);
    if (header->closed_ns != 0 && tally->records != header->records)
        history_hole(r, "records are missing: it was closed with %" PRIu64 ", and %" PRIu64
                        " are there", header->records, tally->records);
}

/* Drop the pages of the file that were read, since the history has their records: so memory does
 * not grow with the file. */
static void drop(const struct reading *r, uint64_t block)
{
    uint64_t first = block + 1 - DROPPED_BLOCKS;

    if (r->is_mapped && (block + 1) % DROPPED_BLOCKS == 0)
        (void)madvise((void *)(uintptr_t)&r->slots[first * DLOCK_RECORD_BLOCK_SLOTS],
                      (size_t)DROPPED_BLOCKS * BLOCK_BYTES, MADV_DONTNEED);
}

void history_read_blocks(struct reading *r, uint64_t block_count)
{
    uint64_t taken = r->slot_count / DLOCK_RECORD_BLOCK_SLOTS;
    struct tally tally = {0};

    for (uint64_t block = 0; block < taken; block++) {
        read_block(r, block, &tally);
        drop(r, block);
    }
    for (uint64_t block = taken; block < block_count; block++)
        if (!is_blank_block(r, block)) {
            history_hole(r, "byte %" PRIu64 ": expected nothing after the last block",
                         byte_of(block));
            break;
        }
    compare(r, &tally);
}
