/* SPDX-License-Identifier: MIT */
/* output_file.h -- writes the file that a user has named as an output.
 *
 * A regular file, and a file that is missing, is replaced as a whole: the bytes go to a new file
 * in the same directory, which takes the name at the end.  A symbolic link stays, and the file
 * that it leads to is replaced.  A device, a FIFO or an open descriptor (/dev/fd/3) is written
 * directly, and keeps its name and mode.
 *
 * Threads     Any; each struct belongs to one.
 */
#ifndef BASE_OUTPUT_FILE_H
#define BASE_OUTPUT_FILE_H

#include <limits.h>
#include <stdbool.h>
#include <stdio.h>

struct output_file {
    FILE *stream;          /* for writing, between open and close              */
    char target[PATH_MAX]; /* the file that is replaced; "": written directly  */
    char fresh[PATH_MAX];  /* the new file                                     */
};

/* Find the file that writing to `path` replaces: `target` is `path` without its last symbolic
 * links, or "" if `path` is written directly.  False, and errno: a directory or a socket stands
 * there, or the path cannot be followed. */
bool output_file_find(const char *path, char target[PATH_MAX]);

/* Open the output.  A secret in a regular file has mode 0600.  Any other regular file keeps its
 * mode, and a new one has 0644 less the umask.  False, and errno: nothing has changed.  Opening a
 * FIFO waits for its reader. */
bool output_file_open(struct output_file *file, const char *path, bool is_secret);

/* Close the output, and give the new file its name if `is_whole` and all bytes could be written.
 * False, and errno, which stays as it was if the output is not whole: the old file is unchanged,
 * and nothing of the new one is left. */
bool output_file_close(struct output_file *file, bool is_whole);

#endif /* BASE_OUTPUT_FILE_H */
