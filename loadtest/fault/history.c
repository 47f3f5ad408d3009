/* SPDX-License-Identifier: MIT */
/* history.c -- faults made from outside, as a file of the recorder's. */
#include "loadtest/fault/history.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "loadtest/check/history.h"
#include "loadtest/kit/files.h"
#include "lock/record/recorder.h"

enum { FILE_BYTES = 1 << 20, UUID_BYTES = 12 }; /* room for some eight thousand records */

struct fault_history {
    dlock_recorder *recorder;
};

struct fault_history *fault_history_open(const char *dir)
{
    struct fault_history *h = calloc(1, sizeof *h);
    char uuid[40];
    dlock_recorder_about about = {
        .variant = HISTORY_LABORATORY, .uuid = uuid, .limit_bytes = FILE_BYTES};

    if (!h)
        abort();
    memcpy(uuid, HISTORY_LABORATORY "-", sizeof HISTORY_LABORATORY "-");
    files_random_hex(uuid + strlen(uuid), UUID_BYTES);
    if (dlock_recorder_open(&h->recorder, dir, &about) != DLOCK_OK) {
        eprintf("seckill: the faults cannot be recorded: %s\n", dlock_error());
        free(h);
        return NULL;
    }
    return h;
}

bool fault_history_close(struct fault_history *h)
{
    uint64_t dropped = h ? dlock_recorder_dropped(h->recorder) : 0;

    if (dropped > 0)
        eprintf("seckill: %" PRIu64 " faults found no room in %s\n", dropped,
                dlock_recorder_path(h->recorder));
    if (h)
        dlock_recorder_close(h->recorder);
    free(h);
    return dropped == 0;
}

void fault_history_add(struct fault_history *h, dlock_fault_phase phase,
                       const char *name, pid_t pid, dlock_assumption breaks)
{
    dlock_event event = {.kind = DLOCK_EVENT_FAULT,
                         .name = name,
                         .detail = phase,
                         .level = (int)breaks,
                         .owner = (uint64_t)pid};

    if (h)
        dlock_recorder_note(h->recorder, &event);
}
