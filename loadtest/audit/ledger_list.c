/* SPDX-License-Identifier: MIT */
/* ledger_list.c -- the names of a run's ledgers in its run.json, and the ledgers that are missing.
 *
 * run.json lists the ledgers that were there at the end, and the number of the threads that sent
 * requests, which number their ledgers from 1: a ledger that was lost before the end is in no list.
 * Ledgers that run.json does not name are no error: a load generator that was started by hand may
 * have written them. */
#include "loadtest/audit/ledger.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "loadtest/kit/files.h"

json_t *ledger_list(const char *dir)
{
    struct dirent **entries = NULL;
    json_t *names = json_array();
    int count = ledger_files_find(dir, &entries);

    for (int i = 0; i < count; i++) {
        json_array_append_new(names, json_string(entries[i]->d_name));
        free(entries[i]);
    }
    free(entries);
    return names;
}

/* The names of the ledgers of the threads that sent requests. */
static json_t *names_of_threads(const json_t *run)
{
    json_int_t count = json_integer_value(json_object_get(json_object_get(run, "start"),
                                                          "threads"));
    json_t *names = json_array();
    char name[48];

    for (json_int_t i = 1; i <= count && i <= LEDGER_FILES_MAX; i++) {
        snprintf(name, sizeof name, "ledger-%d.tsv", (int)i);
        json_array_append_new(names, json_string(name));
    }
    return names;
}

/* Is it the name of a ledger, in a few letters and digits?  Other text does not reach the
 * terminal. */
static bool is_name(const char *name)
{
    static const char allowed[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
                                  "0123456789-_.";

    return name != NULL && strncmp(name, "ledger-", strlen("ledger-")) == 0 &&
           strspn(name, allowed) == strlen(name) && strlen(name) < LEDGER_NAME_MAX;
}

static bool was_read(const struct ledger *ledger, const char *name)
{
    for (int i = 0; i < ledger->files; i++)
        if (strcmp(ledger->paths[i], name) == 0)
            return true;
    return false;
}

static void note_missing(struct ledger *ledger, const json_t *names)
{
    size_t missing = 0, count = json_array_size(names);
    const char *first = NULL;

    for (size_t i = 0; i < count; i++) {
        const char *name = json_string_value(json_array_get(names, i));

        if (!is_name(name) || was_read(ledger, name))
            continue;
        first = missing++ == 0 ? name : first;
    }
    if (missing == 0)
        return;
    ledger->is_complete = false;
    snprintf(ledger->missing, sizeof ledger->missing,
             "%s is missing: run.json says %zu ledger%s, %d file%s found", first, count,
             count == 1 ? "" : "s", ledger->files, ledger->files == 1 ? " was" : "s were");
}

void ledger_note_missing(struct ledger *ledger, const char *dir)
{
    char path[FILES_PATH_MAX];
    json_t *run, *threads;

    files_join(path, dir, "run.json");
    if (access(path, F_OK) != 0 || (run = files_read_json(path)) == NULL)
        return;
    note_missing(ledger, json_object_get(run, "ledgers"));
    threads = names_of_threads(run);
    if (ledger->missing[0] == '\0')
        note_missing(ledger, threads);
    json_decref(threads);
    json_decref(run);
}
