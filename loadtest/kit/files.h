/* SPDX-License-Identifier: MIT */
/* files.h -- paths, files, directories, programs, and names made of random bytes or the time. */
#ifndef LOADTEST_KIT_FILES_H
#define LOADTEST_KIT_FILES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <jansson.h>

#include "loadtest/kit/why.h"

enum { FILES_PATH_MAX = 4096 };

/* DIR/NAME in a buffer of FILES_PATH_MAX bytes; ends the program if it does not fit. */
void files_join(char *out, const char *dir, const char *name);

/* printf into a buffer of FILES_PATH_MAX bytes; ends the program if it does not fit. */
void files_path(char *out, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/* Is there a directory at `path`?  A file that can be executed is none. */
bool files_is_directory(const char *path);

/* Open a file for reading.  -1 (and errno): it cannot be opened, is no regular file, or is larger
 * than a file of its kind is: 64 MiB of JSON (*.json), 1 GiB of rows and records.  A FIFO in its
 * place would have no end, or no writer, for whom the program would wait.  But an open
 * descriptor (/dev/stdin, /dev/fd/3) may be of any kind. */
int files_open_input(const char *path);

/* The reason in errno after files_open_input(), files_read() or files_read_json(). */
const char *files_reason(void);

/* The whole file as files_open_input() opens it, with a NUL after it; NULL (and errno) if it
 * cannot be read.  The caller frees it. */
char *files_read(const char *path, size_t *size);

/* Write the file as base/text/output_file.h does.  A new file has mode 0644 less the umask, because
 * other users may read it.  False (and errno): the old file is unchanged, and
 * nothing of the new file is left. */
bool files_write(const char *path, const char *text);
bool files_write_json(const char *path, const json_t *json);

/* The same with mode 0600 and JSON as it is, for a file with a password or a key. */
bool files_write_secret(const char *path, const char *text);
bool files_write_secret_json(const char *path, const json_t *json);

/* Open a log for appending, with mode 0644 less the umask.  -1 (and errno). */
int files_open_log(const char *path);

/* Read a JSON file.  NULL, and a line on stderr: the file is missing or not JSON. */
json_t *files_read_json(const char *path);

/* json_dumps() of texts without logins (url_mask.h), in which JSON's escapes stand for each
 * character that utf8_is_control() names.  The caller frees it. */
char *files_json_text(const json_t *json, size_t flags);

/* Print JSON on stdout, with its end of line, and free it. */
void files_print_json(json_t *json);

/* mkdir -p with mode 0700 for the last part. */
bool files_make_dir(const char *path);

/* rm -r; never follows a symbolic link and never leaves the file system.  A path that
 * does not exist is fine.  Refuses anything with fewer than two parts. */
bool files_remove_tree(const char *path);

/* Print the last ten lines of a log on stderr, each after "  | ". */
void files_print_tail(const char *path);

/* The last line of a file that is not empty; of a log's line only the message, without
 * its time and level.  "" if there is none. */
void files_last_line(const char *path, char *out, size_t size);

/* `bytes` random bytes as hex digits, and a NUL. */
void files_random_hex(char *out, size_t bytes);

/* The folder that this program's file is in. */
void files_program_dir(char *out);

/* Another program of this project, which lies beside this one. */
void files_sibling(char *out, const char *name);

/* Find a program in $PATH.  False: it is not there. */
bool files_find_program(char *out, const char *name);

/* Find `relative` (such as loadtest/wrk/order.lua) in the folder of this program and
 * the folders above it, then in $PREFIX/share/seckill without its first folder, as
 * tools/install.sh installs it.  False: nowhere. */
bool files_find_data(char *out, const char *relative);

/* "20240131T120000Z" of the wall clock, for names. */
void files_utc_stamp(char *out, size_t size);

#endif /* LOADTEST_KIT_FILES_H */
