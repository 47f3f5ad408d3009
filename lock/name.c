/* SPDX-License-Identifier: MIT */
/* name.c -- checks the name of a lock. */
#include "lock/name.h"

#include "lock/dlock_variant.h"

dlock_status dlock_name_check(const char *name)
{
    size_t len = 0;

    if (name == NULL || name[0] == '\0')
        return dlock_fail(DLOCK_INVALID, "the name of the lock is empty");
    for (; name[len] != '\0'; len++) {
        unsigned char c = (unsigned char)name[len];

        if (len == DLOCK_NAME_MAX)
            return dlock_fail(DLOCK_INVALID, "the name of the lock is over %d bytes",
                              (int)DLOCK_NAME_MAX);
        if (c < ' ' || c == 127)
            return dlock_fail(DLOCK_INVALID, "byte %zu of the lock's name is a control "
                              "character", len + 1);
    }
    return DLOCK_OK;
}
