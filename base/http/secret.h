/* SPDX-License-Identifier: MIT */
/* secret.h -- files with a secret that only their owner may read.
 *
 * Threads     Any.
 */
#ifndef BASE_SECRET_H
#define BASE_SECRET_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

enum { SECRET_WHY_MAX = 200 };

/* Make the file `path` with mode 0600 and `text` in it.  The file appears whole or not
 * at all, so if two processes make it at once, both find the same file.  True: the file
 * exists now; a file that existed before is not changed.  False: the file could not be
 * made, and errno says why. */
bool secret_make(const char *path, const char *text);

/* Read a whole file of at most size - 1 bytes into `text`, and end it with a NUL.  Only a
 * regular file is read, which belongs to `owner` or to root, and whose mode gives nothing
 * to its group or to others.  False: `why` (SECRET_WHY_MAX bytes) says what is wrong and
 * what would be right, in words that fit behind "cannot use FILE: ". */
bool secret_read(const char *path, uid_t owner, char *text, size_t size, char *why);

/* Write 2 * count + 1 bytes: `count` random bytes as lower-case hex digits, and a NUL. */
void secret_random_hex(char *out, size_t count);

/* Are the texts equal?  If both have the same length, the time does not depend on where
 * they differ. */
bool secret_equals(const char *a, const char *b);

#endif /* BASE_SECRET_H */
