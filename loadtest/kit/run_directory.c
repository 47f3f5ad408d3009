/* SPDX-License-Identifier: MIT */
/* run_directory.c -- a directory for each run, named by the time, and a link to the newest. */
#include "loadtest/kit/run_directory.h"

#include <errno.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { SAME_SECOND_MAX = 100 };

static void link_latest(const char *base, const char *name)
{
    char link[FILES_PATH_MAX], fresh[FILES_PATH_MAX];

    files_join(link, base, "latest");
    files_path(fresh, "%s/latest.%d", base, (int)getpid());
    if (symlink(name, fresh) != 0 || rename(fresh, link) != 0)
        unlink(fresh);
}

bool runs_make(char out[FILES_PATH_MAX], const char *base)
{
    return runs_make_named(out, base, "");
}

bool runs_make_named(char out[FILES_PATH_MAX], const char *base, const char *before)
{
    char stamp[32], name[64];

    files_utc_stamp(stamp, sizeof stamp);
    if (mkdir(base, 0755) != 0 && errno != EEXIST)
        goto fail;
    for (int i = 1; i < SAME_SECOND_MAX; i++) {
        snprintf(name, sizeof name, "%.20s%s", before, stamp);
        if (i > 1)
            snprintf(name + strlen(name), sizeof name - strlen(name), "-%d", i);
        files_join(out, base, name);
        if (mkdir(out, 0755) == 0) {
            link_latest(base, name);
            return true;
        }
        if (errno != EEXIST)
            break;
    }
fail:
    fprintf(stderr, "seckill: cannot make a directory in %s: %s\n", base,
            strerror(errno));
    return false;
}

bool runs_refuse_many(const char *program, const char *path)
{
    char summary[FILES_PATH_MAX];
    const char *first = NULL;
    json_t *json, *cell;

    files_join(summary, path, "summary.json");
    if (access(summary, F_OK) != 0)
        return false;
    json = files_read_json(summary);
    cell = json_array_get(json_object_get(json, "cells"), 0);
    first = json_string_value(
        json_object_get(json_array_get(json_object_get(cell, "runs"), 0), "dir"));
    fprintf(stderr, "%s: %s holds many runs; name one of them", program, path);
    if (first != NULL)
        fprintf(stderr, ", such as\n  %s/%s", path, first);
    fputc('\n', stderr);
    json_decref(json);
    return true;
}

void runs_say_unreadable(const char *program, const char *path)
{
    if (errno == ENOENT)
        fprintf(stderr, "%s: there is no run at %s\n", program, path);
    else if (errno == ENOTDIR)
        fprintf(stderr, "%s: %s is not the directory of a run\n", program, path);
    else
        fprintf(stderr, "%s: cannot read the run at %s: %s\n", program, path, files_reason());
    fputs("  the runs are in runs/, the last is runs/latest\n", stderr);
}
