/* SPDX-License-Identifier: MIT */
/* admin_token.h -- the secret for the service's listener for operators: 64 hex digits
 * in a file, which the service, `seckill seed` and the laboratory read.
 *
 * Threads     Any.
 */
#ifndef BASE_ADMIN_TOKEN_H
#define BASE_ADMIN_TOKEN_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

enum { ADMIN_TOKEN_BYTES = 32, ADMIN_TOKEN_LEN = 2 * ADMIN_TOKEN_BYTES };

/* Write the file's usual path, in the directory of the file of the token keys, into
 * `out`, which has `size` bytes.  Returns `out`; a longer path is cut. */
char *admin_token_beside(const char *key_path, char *out, size_t size);

/* Make the file with mode 0600 and a random token.  An existing file is not changed,
 * and the answer is true.  False: the file could not be made, and errno says why. */
bool admin_token_make(const char *path);

/* Read the file, which must belong to `owner` or to root and be readable by its owner
 * only.  False: `why` (SECRET_WHY_MAX bytes) says what is wrong, in words that fit
 * after "cannot use FILE: ". */
bool admin_token_read(const char *path, uid_t owner, char out[ADMIN_TOKEN_LEN + 1],
                      char *why);

#endif /* BASE_ADMIN_TOKEN_H */
