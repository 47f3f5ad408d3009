/* SPDX-License-Identifier: MIT */
/* file.h -- the file of a recorder: mapped whole, and growing by blocks.
 *
 * Only for recorder.c, which fills the blocks; record.h says what is in them. */
#ifndef DLOCK_RECORD_FILE_H
#define DLOCK_RECORD_FILE_H

#include <stdatomic.h>
#include <stdbool.h>

#include "base/os/mutex.h"
#include "lock/dlock.h"
#include "lock/record/about.h"
#include "lock/record/record.h"

enum {
    DLOCK_RECORD_BLOCK_SIZE = DLOCK_RECORD_SIZE * DLOCK_RECORD_BLOCK_SLOTS,
    DLOCK_RECORD_PATH_SIZE = 4096,
};

struct dlock_record_file {
    dlock_record_header *header; /* the mapping */
    dlock_record *slots;
    int fd;
    size_t map_size;
    uint64_t blocks_max;
    struct dlock_mutex growing;
    _Atomic uint64_t blocks_grown; /* changed with `growing` held */
    atomic_bool is_full;
    char path[DLOCK_RECORD_PATH_SIZE];
};

/* Make the directory `dir` if there is none, and a new file in it, with its header.
 * OK, INVALID, IO or NOMEM as dlock_recorder_open().  After OK the caller closes the
 * file; after another answer there is nothing to close. */
dlock_status dlock_record_file_open(struct dlock_record_file *file, const char *dir,
                                    const dlock_recorder_about *about) DLOCK_MUST_CHECK;
void dlock_record_file_close(struct dlock_record_file *file);

/* Seal every block.  No thread writes to the file any more, and the caller closes it
 * next. */
void dlock_record_file_finish(struct dlock_record_file *file);

/* Take a block of zeros for the calling thread alone.  False: the file has no more
 * room, and its header counts the dropped record.  Any thread. */
bool dlock_record_file_take(struct dlock_record_file *file, uint64_t *block);

#endif /* DLOCK_RECORD_FILE_H */
