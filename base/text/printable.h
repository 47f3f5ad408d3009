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
 * line break at the end is removed, a tab is a blank; all else is as base/os/utf8.h shows it.  A
 * text that does not fit is cut between two characters, and ends in "...".  Returns `out`. */
char *printable(const char *text, char *out, size_t size);

#endif /* BASE_PRINTABLE_H */
