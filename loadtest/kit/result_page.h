/* SPDX-License-Identifier: MIT */
/* result_page.h -- a page of results with its date, commit, machine and command at its head.
 * The command that measures writes the page, so no figure is copied by hand. */
#ifndef LOADTEST_KIT_RESULT_PAGE_H
#define LOADTEST_KIT_RESULT_PAGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

/* Set the command that the pages of this process name: `program` ("seckill bench") and the words
 * of `argv` after the first, the subcommand.  `asked_path` is the value of --markdown; NULL:
 * none.  All are kept, not copied.  The pages also name the load of the machine at this call. */
void result_page_command(const char *program, int argc, char **argv, const char *asked_path);

/* A stream into memory, which ends the program instead of failing.  After fclose() *text
 * is the caller's to free. */
FILE *result_page_stream(char **text, size_t *size);

enum { RESULT_COMMIT_MAX = 128 };

/* The commit that this program was built from, if it lies in its git repository; "" if not.
 * *has_changes: the tree has changes beside documents. */
void result_page_commit(char commit[RESULT_COMMIT_MAX], bool *has_changes);

/* Write a page, to `path` and to the file that --markdown names; either may be none (NULL).
 * The page is the title, the table of when and how, and `body`, which is Markdown.
 * False: the reason is on stderr. */
bool result_page_write(const char *path, const char *title, const char *body);

/* Write a page only to the file that --markdown names.  `text` has tables that are laid out for a
 * terminal.  False: the reason is on stderr. */
bool result_page_write_text(const char *title, const char *text);

/* The setting --markdown=FILE of a command that measures. */
#define COMMAND_MARKDOWN(at)                                                           \
    OPTION(TEXT, "markdown", at, .meta = "FILE", .output = SETTING_WRITES_FILE,        \
           .common = SETTING_IS_MARKDOWN,                                              \
           .help = "write the result as a Markdown page too, with date, commit, "      \
                   "machine and command at its head")

#endif /* LOADTEST_KIT_RESULT_PAGE_H */
