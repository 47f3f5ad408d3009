/* SPDX-License-Identifier: MIT */
/* seal.h -- checksums of the blocks of a file of records; record.h says which bytes
 * they cover.  For the recorder and for readers of the file.
 *
 * Threads     A block: the thread that fills it, or any thread once all of them have
 *             ended. */
#ifndef DLOCK_RECORD_SEAL_H
#define DLOCK_RECORD_SEAL_H

#include <stdbool.h>

#include "lock/record/record.h"

/* Begin the seal of a block: `thread` fills it from now on.  `slots` are all slots of
 * the file. */
void dlock_record_seal_open(dlock_record *slots, uint64_t block, uint32_t thread);

/* Give the block its checksum; its first `used` slots are in use.  `is_last`: the
 * checksum covers all of them.  Otherwise it leaves out unanswered calls and locks that
 * are still held, and the block is sealed again later. */
void dlock_record_seal_close(dlock_record *slots, uint64_t block, unsigned used,
                             bool is_last);

/* Seal every one of the first `blocks` blocks that is not sealed for good.  No thread
 * fills them any more.  Returns the number of slots in use. */
uint64_t dlock_record_seal_all(dlock_record *slots, uint64_t blocks);

/* Compute the checksum that the seal of the block should have, from the slots that the
 * seal names. */
uint32_t dlock_record_seal_sum(const dlock_record *slots, uint64_t block);

/* Compute the two checksums of a header: of its constant fields, and of everything that
 * the close leaves in it. */
uint32_t dlock_record_head_sum(const dlock_record_header *header);
uint32_t dlock_record_close_sum(const dlock_record_header *header);

/* The seal of a block. */
static inline dlock_record_seal *dlock_record_seal_of(const dlock_record *slots,
                                                      uint64_t block)
{
    return (dlock_record_seal *)(uintptr_t)&slots[block * DLOCK_RECORD_BLOCK_SLOTS +
                                                  DLOCK_RECORD_BLOCK_RECORDS];
}

#endif /* DLOCK_RECORD_SEAL_H */
