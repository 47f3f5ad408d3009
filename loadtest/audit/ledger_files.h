/* SPDX-License-Identifier: MIT */
/* ledger_files.h -- finds the ledgers in the directory of a run. */
#ifndef LOADTEST_AUDIT_LEDGER_FILES_H
#define LOADTEST_AUDIT_LEDGER_FILES_H

#include <dirent.h>

/* Find the files ledger-*.tsv in `dir`, sorted by name.  The caller frees each entry and the list,
 * as after scandir().  -1, and errno: the directory cannot be read. */
int ledger_files_find(const char *dir, struct dirent ***entries);

#endif /* LOADTEST_AUDIT_LEDGER_FILES_H */
