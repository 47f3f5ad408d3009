/* SPDX-License-Identifier: MIT */
/* admin_token.h -- the secret that operators show to the service's other listener: 64 hex
 * digits in a file, which the service, `seckill seed` and the laboratory share.
 *
 * Threads     Any; nothing is shared.
 */
#ifndef BASE_ADMIN_TOKEN_H
#define BASE_ADMIN_TOKEN_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

enum { ADMIN_TOKEN_BYTES = 32, ADMIN_TOKEN_LEN = 2 * ADMIN_TOKEN_BYTES };

/* The file's usual name: beside the file of the token keys.  Writes at most `size` bytes
 * and returns `out`. */
char *admin_token_beside(const char *key_path, char *out, size_t size);

/* Make the file with mode 0600 and a random token; one that is there is left as it is.
 * False: errno says why there is none. */
bool admin_token_make(const char *path);

/* Read it; it must belong to `owner` or to root and be readable by its owner only.  False:
 * `why` (SECRET_WHY_MAX bytes) says what is wrong, in words that fit behind "cannot use
 * FILE: ". */
bool admin_token_read(const char *path, uid_t owner, char out[ADMIN_TOKEN_LEN + 1],
                      char *why);

#endif /* BASE_ADMIN_TOKEN_H */
