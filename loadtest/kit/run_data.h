/* SPDX-License-Identifier: MIT */
/* run_data.h -- data.json: the results of a command's run, in one file of one format.
 *
 * {"format": 1, "kind": "compare", "version", "commit", "has_changes", "started",
 *  "elapsed_ms", "exit", "command": [...], "settings": [{"name", "value", "origin"}],
 *  "machine": {...}, "versions": {...}, "results": {...}}
 * The fields of "results" and "versions" are set by report/ and lab/.
 *
 * Threads     One: the main thread of a command.
 */
#ifndef LOADTEST_KIT_RUN_DATA_H
#define LOADTEST_KIT_RUN_DATA_H

#include <jansson.h>
#include <stdbool.h>

#include "base/text/settings.h"

enum { RUN_DATA_FORMAT = 1 };

/* The file's name in the directory of the run. */
#define RUN_DATA_FILE "data.json"

/* Note that the command of this process begins now, with its settings and its words, also those
 * behind "--" if the command passes them on.  `s` and `argv`, which ends with NULL, are lent
 * until the command ends. */
void run_data_begin(const struct settings *s, int argc, char **argv);

/* The file's object but for "versions" and "results"; `status` is the command's exit status so
 * far.  The caller owns it. */
json_t *run_data_head(const char *kind, enum exit_code status);

#endif /* LOADTEST_KIT_RUN_DATA_H */
