/* SPDX-License-Identifier: MIT */
/* printable.h -- turns foreign text (of a library, a server, a file) into one printable
 * line.
 *
 * Threads     Any.
 */
#ifndef BASE_PRINTABLE_H
#define BASE_PRINTABLE_H

#include <stddef.h>

/* Copy `text` into `out`, at most `size` bytes with the NUL (`size` is at least 4), as one
 * line: a line break with the blanks around it becomes "; " (a blank after one of . , ; :), a
 * line break at the end is removed; any other character of utf8_is_control() and any byte that is
 * no UTF-8 becomes `?`.  A text that does not fit is cut between two characters, and ends in "...".
 * Returns `out`. */
char *printable(const char *text, char *out, size_t size);

/* The same, but returns the length of the line without the NUL. */
size_t printable_len(const char *text, char *out, size_t size);

#endif /* BASE_PRINTABLE_H */
