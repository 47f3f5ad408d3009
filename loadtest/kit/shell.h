/* SPDX-License-Identifier: MIT */
/* shell.h -- quoting words for a POSIX shell, in lines that people paste and in files that a
 * shell reads.
 *
 * Threads     Any, for different streams.
 */
#ifndef LOADTEST_KIT_SHELL_H
#define LOADTEST_KIT_SHELL_H

#include <stdio.h>

#include "loadtest/kit/files.h"

enum { SHELL_WORD_MAX = 4 * FILES_PATH_MAX }; /* bytes of a quoted path; a ' takes four */

/* Print `word` between single quotes, so that a shell reads it as one word and expands nothing
 * in it. */
void shell_print_quoted(FILE *out, const char *word);

/* The same without quotes if the word has only letters, digits and the signs -_./:=@%+ and
 * the comma, so that it is easier to read. */
void shell_print_word(FILE *out, const char *word);

/* The same, with a second part after it: `dir` and "/env". */
void shell_print_path(FILE *out, const char *dir, const char *name);

/* The text that shell_print_word() prints, in `out`, for a message with a command to paste.  A
 * word that is longer than a path may be cut. */
const char *shell_word(char out[SHELL_WORD_MAX], const char *word);

/* Write a text inside a configuration in which a backslash escapes characters: with a backslash
 * before each of its characters that is one of `special`. */
void backslash_print(FILE *out, const char *text, const char *special);

#endif /* LOADTEST_KIT_SHELL_H */
