/* SPDX-License-Identifier: MIT */
/* seal.h -- checksums for the blocks of a file of records; record.h says what they
 * are of.  For recorders, and for those that read.
 *
 * Threads     Of a block: the one that fills it, or any when all have ended. */
#ifndef DLOCK_RECORD_SEAL_H
#define DLOCK_RECORD_SEAL_H

#include <stdbool.h>

#include "lock/record/record.h"

/* Say that `thread` fills the block now.  `slots` are the file's. */
void dlock_record_seal_open(dlock_record *slots, uint64_t block, uint32_t thread);

/* Give the block its checksum.  Its first `used` slots hold something.  Not `is_last`: a
 * call that has no answer yet, and a hold that is not given back, are left out of it until
 * it is sealed again. */
void dlock_record_seal_close(dlock_record *slots, uint64_t block, unsigned used,
                             bool is_last);

/* Seal what is not sealed for good, of so many blocks, which nobody fills any more.
 * Answers how many slots hold something. */
uint64_t dlock_record_seal_all(dlock_record *slots, uint64_t blocks);

/* The checksum that the block ought to have, if its seal says how much it is of. */
uint32_t dlock_record_seal_sum(const dlock_record *slots, uint64_t block);

/* The same of a header: of what does not change, and of what a close leaves. */
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
