/* SPDX-License-Identifier: MIT */
/* history_file.h -- the common part of the readers of a file of records. */
#ifndef LOADTEST_CHECK_HISTORY_FILE_H
#define LOADTEST_CHECK_HISTORY_FILE_H

#include "loadtest/check/history.h"

/* A file being read. */
struct reading {
    struct history *h;
    const char *file;
    const dlock_record_header *header;
    const dlock_record *slots;
    uint64_t slot_count; /* those that the file has and that were taken by threads */
    uint32_t process;
    uint64_t torn_count;
    bool is_mapped;      /* pages that were read may be dropped from memory        */
    char boot[40];
};

bool history_is_time(int64_t ns);
int64_t history_from_ms(int64_t ms);

/* The offset in its file at which a slot begins. */
uint64_t history_offset_of(uint64_t slot);

/* Is there a record, with a commit word, in this slot? */
bool history_is_record(const struct reading *r, uint64_t at);

/* Add every record from slot `at` on and before `end`, and count those that are torn. */
void history_read_slots(struct reading *r, uint64_t at, uint64_t end);

/* Add the records of every block of a file with seals, if the seal of the block is correct.
 * `block_count`: the number of blocks for which the file has room.  A missing block is a damage. */
void history_read_blocks(struct reading *r, uint64_t block_count);

/* Note that some of the process's records are missing. */
void history_hole(struct reading *r, const char *fmt, ...)
    __attribute__((format(printf, 2, 3)));

#endif /* LOADTEST_CHECK_HISTORY_FILE_H */
