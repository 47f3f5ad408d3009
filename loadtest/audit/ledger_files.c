/* SPDX-License-Identifier: MIT */
/* ledger_files.c -- finds the ledgers in the directory of a run. */
#include "loadtest/audit/ledger_files.h"

#include <fnmatch.h>
#include <stddef.h>

static int is_ledger(const struct dirent *entry)
{
    return fnmatch("ledger-*.tsv", entry->d_name, 0) == 0;
}

int ledger_files_find(const char *dir, struct dirent ***entries)
{
    return scandir(dir, entries, is_ledger, alphasort);
}
