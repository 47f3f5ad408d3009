/* SPDX-License-Identifier: MIT */
/* hash_table.h -- uthash, with a hash function that every compiler takes without a
 * warning: the default one falls through switch cases, which clang finds in each file
 * that uses it. */
#ifndef DLOCK_HASH_TABLE_H
#define DLOCK_HASH_TABLE_H

#include <assert.h>

#define HASH_FUNCTION HASH_FNV
#include <uthash.h>

/* uthash frees the table when it deletes an entry without neighbours.  So the head, and
 * only the head, has no entry before it. */
#undef HASH_DELETE
#define HASH_DELETE(hh, head, delptr)                                                  \
    do {                                                                               \
        assert(((delptr)->hh.prev == NULL) == ((delptr) == (head)));                   \
        HASH_DELETE_HH(hh, head, &(delptr)->hh);                                       \
    } while (0)

#endif /* DLOCK_HASH_TABLE_H */
