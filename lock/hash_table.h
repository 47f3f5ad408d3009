/* SPDX-License-Identifier: MIT */
/* hash_table.h -- uthash, with a hash function that every compiler takes without a
 * warning: the default one falls through switch cases, which clang finds in each file
 * that uses it. */
#ifndef DLOCK_HASH_TABLE_H
#define DLOCK_HASH_TABLE_H

#define HASH_FUNCTION HASH_FNV
#include <uthash.h>

#endif /* DLOCK_HASH_TABLE_H */
