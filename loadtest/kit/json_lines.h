/* SPDX-License-Identifier: MIT */
/* json_lines.h -- one JSON object a line on stdout while a command runs, for programs.
 *
 * docs/reference/json-lines.md has the events and their fields.
 *
 * Threads     json_lines_begin() is called before there are others; the rest by any.
 */
#ifndef LOADTEST_KIT_JSON_LINES_H
#define LOADTEST_KIT_JSON_LINES_H

#include <jansson.h>
#include <stdbool.h>

enum { JSON_LINES_FORMAT = 1 };

/* From now on stdout has only JSON lines: text for people goes to stderr, or nowhere if is_quiet.
 * False: errno has the reason. */
bool json_lines_begin(bool is_quiet);

/* Are JSON lines wanted? */
bool json_lines_are_on(void);

/* Write {"format": 1, "event": EVENT, "at_ms": ..., the members of `rest`} as a line; at_ms is
 * the time since json_lines_begin().  Takes `rest`, which may be NULL.  Nothing is written
 * unless JSON lines are wanted. */
void json_lines_write(const char *event, json_t *rest);

/* A text of any bytes for a line, as base/os/utf8.h shows it.  NULL gives JSON's null. */
json_t *json_lines_text(const char *text);

/* Write {"exit": EXIT_STATUS, "dir": null} as the line "end", unless the command has written that
 * line: a command that ends early has no more to say. */
void json_lines_end_anyway(int exit_status);

/* The errno of the first line that could not be written, which is EPIPE if the reader has left; 0:
 * all could. */
int json_lines_reason(void);

#endif /* LOADTEST_KIT_JSON_LINES_H */
