/* SPDX-License-Identifier: MIT */
/* history_missing.c -- finds the processes of a run whose files of records are missing.
 *
 * The file run.json of a run has the number of its processes, and their pids.  A process records
 * into a file of its own from its start, even if it never asks for a lock.  The laboratory has
 * such a file too, for the faults.  More files than run.json names are no damage: a process that
 * was started again has a second file.  A file with a damaged header is a damage already, and does
 * not say whose it is, so then nothing is missing for sure.  Every run.json has the number of the
 * processes from the start of the run, so a run.json without this number is damaged itself. */
#include "loadtest/check/history.h"

#include <string.h>
#include <unistd.h>

#include "loadtest/kit/files.h"

enum { NAME_DIGITS_MAX = 2, COUNTS_MAX = 120 };

/* The number of files that were found. */
struct found {
    size_t services, laboratories;
};

static bool is_laboratory(const struct history_process *process)
{
    return strcmp(process->variant, HISTORY_LABORATORY) == 0;
}

static struct found count_found(const struct history *h)
{
    struct found found = {0};

    for (size_t i = 0; i < h->process_count; i++) {
        found.laboratories += is_laboratory(&h->processes[i]);
        found.services += !is_laboratory(&h->processes[i]);
    }
    return found;
}

static bool has_pid(const struct history *h, json_int_t pid)
{
    for (size_t i = 0; i < h->process_count; i++)
        if (h->processes[i].pid == pid && !is_laboratory(&h->processes[i]))
            return true;
    return false;
}

/* Is it a name of the laboratory's processes, such as "p2"?  Other text does not reach the
 * terminal. */
static bool is_name(const char *name)
{
    size_t digits = *name == 'p' ? strspn(name + 1, "0123456789") : 0;

    return digits > 0 && digits <= NAME_DIGITS_MAX && name[1 + digits] == '\0';
}

/* "run.json says 2 processes, 1 file was found". */
static void say_counts(char out[COUNTS_MAX], json_int_t expected, size_t services)
{
    snprintf(out, COUNTS_MAX, "run.json says %" JSON_INTEGER_FORMAT " process%s, %zu file%s found",
             expected, expected == 1 ? "" : "es", services, services == 1 ? " was" : "s were");
}

/* Add the processes whose pids no file has.  Answers their number. */
static size_t name_missing(struct history *h, json_t *run, const char *counts)
{
    json_t *pid;
    const char *name;
    size_t missing = 0;

    json_object_foreach(json_object_get(run, "pids"), name, pid)
    {
        if (!is_name(name) || json_integer_value(pid) <= 0 ||
            has_pid(h, json_integer_value(pid)))
            continue;
        missing++;
        history_damage(h, "the record of process %s (pid %" JSON_INTEGER_FORMAT
                          ") is missing: %s", name, json_integer_value(pid), counts);
    }
    return missing;
}

/* `run` is NULL if run.json cannot be read. */
static void note_missing(struct history *h, json_t *run)
{
    json_int_t expected = json_integer_value(json_object_get(run, "processes"));
    struct found found = count_found(h);
    char counts[COUNTS_MAX];

    say_counts(counts, expected, found.services);
    if (expected <= 0)
        history_damage(h, "run.json %s, so it is not known whether a record is missing",
                       run == NULL ? "cannot be read" : "has no number of processes");
    else if (name_missing(h, run, counts) == 0 && expected > (json_int_t)found.services)
        history_damage(h, "the record of a process is missing: %s", counts);
    if (found.laboratories == 0)
        history_damage(h, "the record of the faults is missing: no file %s-*%s was found",
                       HISTORY_LABORATORY, DLOCK_RECORD_SUFFIX);
}

void history_note_missing(struct history *h, const char *run)
{
    char path[FILES_PATH_MAX];
    json_t *json;

    files_join(path, run, "run.json");
    if (h->unread_count > 0 || access(path, F_OK) != 0)
        return;
    json = files_read_json(path);
    note_missing(h, json);
    json_decref(json);
}
