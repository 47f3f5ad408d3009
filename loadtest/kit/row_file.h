/* SPDX-License-Identifier: MIT */
/* row_file.h -- reads a file of rows, such as orders.tsv: a row is a line, and its fields have tabs
 * between them.  An empty line and a line that begins with # are no rows.
 *
 * Threads     Any.
 */
#ifndef LOADTEST_KIT_ROW_FILE_H
#define LOADTEST_KIT_ROW_FILE_H

#include <stdbool.h>
#include <stdint.h>

/* Takes a row, which it may cut up.  False: it is no such row. */
typedef bool row_file_fn(void *arg, char *row);

/* Read a file, and call `take` for each of its rows.  Returns the text of the file, in which the
 * rows are; the caller frees it.  NULL: the file cannot be read, has a zero byte, or has a line
 * that is no row; the reason is on stderr, where `what` names a row ("order"). */
char *row_file_read(const char *path, const char *what, row_file_fn *take, void *arg);

/* Cut a row into its fields.  Returns the number of the fields; -1: there are more than `most`. */
int row_file_cut(char *row, char *field[], int most);

/* Read a whole number.  An empty text gives `none`, or is refused if `none` is negative.  False: it
 * is no number. */
bool row_file_number(const char *text, int64_t none, int64_t *out);

#endif /* LOADTEST_KIT_ROW_FILE_H */
