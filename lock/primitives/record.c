/* SPDX-License-Identifier: MIT */
/* record.c -- records the calls to semaphores, permits and latches.
 *
 * Permits have no owner, so the owner in a record is the calling thread. */
#include <string.h>

#include "base/os/fork.h"
#include "base/os/random.h"
#include "base/os/thread.h"
#include "lock/primitives/primitives.h"
#include "lock/status.h"

dlock_status dlock_primitives_record(dlock_primitives *prims, const char *dir)
{
    DLOCK_PUT_OFF_CANCEL;
    char text[DLOCK_UUID_LEN + 1];
    dlock_recorder_about about = {.variant = "primitives", .uuid = text};

    dlock_error_clear();
    if (prims == NULL || dir == NULL || *dir == '\0')
        return dlock_fail(DLOCK_INVALID, "primitives and a directory are needed");
    if (prims->generation != dlock_fork_generation())
        return dlock_fail(DLOCK_INVALID, "the primitives belong to the parent process");
    if (prims->recorder != NULL)
        return dlock_fail(DLOCK_INVALID, "these primitives are recorded already");
    dlock_random_uuid(text);
    return dlock_recorder_open(&prims->recorder, dir, &about);
}

uint64_t primitive_record_begin(const dlock_primitives *prims, const dlock_event *event)
{
    dlock_event asked = *event;

    if (prims->recorder == NULL)
        return 0;
    asked.owner = dlock_thread_id();
    return dlock_recorder_begin(prims->recorder, &asked);
}

dlock_status primitive_record_end(const dlock_primitives *prims, uint64_t call,
                                  dlock_status st, const dlock_event *answer)
{
    dlock_event told = {0};

    if (call == 0)
        return st;
    if (answer != NULL)
        told = *answer;
    told.status = st;
    dlock_recorder_end(prims->recorder, call, &told);
    return st;
}
