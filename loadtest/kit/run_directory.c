/* SPDX-License-Identifier: MIT */
/* run_directory.c -- a directory for each run, named by the time, and a link to the newest. */
#include "loadtest/kit/run_directory.h"

#include <dirent.h>
#include <errno.h>
#include <fnmatch.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "loadtest/kit/shell.h"

enum { SAME_SECOND_MAX = 100, NAME_SIZE = 64 };

/* The directories that this process has made and not taken back, and the name to which `latest`
 * pointed before the last of them; "": there was no link. */
static size_t kept_count;
static char name_before[NAME_SIZE];

/* Whether `link` is missing, or a link to a directory beside it, as runs make it.  `target` is
 * the name of that directory, "" if the link is missing. */
static bool read_link(const char *link, char target[NAME_SIZE])
{
    ssize_t length = readlink(link, target, NAME_SIZE);

    if (length < 0 || length >= NAME_SIZE) {
        target[0] = '\0';
        return length < 0 && errno == ENOENT;
    }
    target[length] = '\0';
    return strchr(target, '/') == NULL;
}

/* False (and errno): the link is as it was. */
static bool point_to(const char *link, const char *name)
{
    char fresh[FILES_PATH_MAX];
    int reason;

    files_path(fresh, "%s.%d", link, (int)getpid());
    if (symlink(name, fresh) == 0 && rename(fresh, link) == 0)
        return true;
    reason = errno;
    unlink(fresh);
    errno = reason;
    return false;
}

static void link_latest(const char *base, const char *name)
{
    char link[FILES_PATH_MAX];

    files_join(link, base, "latest");
    if (!read_link(link, name_before))
        eprintf("seckill: %s is no link of a run, and stays as it is; this run is %s/%s\n",
                link, base, name);
    else if (!point_to(link, name))
        eprintf("seckill: cannot make the link %s: %s; this run is %s/%s\n", link,
                strerror(errno), base, name);
}

/* Has the directory a lab whose servers may run?  Without its state.json nobody would find them. */
static bool has_lab(const char *path)
{
    char state[FILES_PATH_MAX], lab[FILES_PATH_MAX], word[SHELL_WORD_MAX];
    struct dirent *entry;
    bool found = false;
    DIR *dir = opendir(path);

    while (dir && !found && (entry = readdir(dir)) != NULL) {
        if (fnmatch("lab-*", entry->d_name, 0) != 0)
            continue;
        files_join(lab, path, entry->d_name);
        files_join(state, lab, "state.json");
        found = access(state, F_OK) == 0;
        if (found)
            eprintf("seckill: %s stays, because its servers may run\n"
                    "  end them: seckill lab down --dir=%s\n", path, shell_word(word, lab));
    }
    if (dir)
        closedir(dir);
    return found;
}

/* Point `latest` in `base` to the run before, if that is still there. */
static void link_before(const char *base, const char *link)
{
    char before[FILES_PATH_MAX];

    files_join(before, base, name_before);
    if (name_before[0] == '\0' || !files_is_directory(before) || !point_to(link, name_before))
        unlink(link);
}

void runs_take_back(const char *dir)
{
    char link[FILES_PATH_MAX], target[NAME_SIZE];
    char *path = realpath(dir, NULL);
    char *name = path != NULL ? strrchr(path, '/') : NULL;

    if (name == NULL)
        return;
    if (!has_lab(path) && !files_remove_tree(path))
        eprintf("seckill: cannot remove %s: %s\n", path, strerror(errno));
    *name++ = '\0';
    files_join(link, path, "latest");
    if (read_link(link, target) && strcmp(target, name) == 0)
        link_before(path, link);
    free(path);
    kept_count--;
}

bool runs_are_kept(void)
{
    return kept_count > 0;
}

bool runs_make(char out[FILES_PATH_MAX], const char *base)
{
    return runs_make_named(out, base, "");
}

bool runs_make_named(char out[FILES_PATH_MAX], const char *base, const char *before)
{
    char stamp[32], name[NAME_SIZE];

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
            kept_count++;
            return true;
        }
        if (errno != EEXIST)
            break;
    }
fail:
    eprintf("seckill: cannot make a directory in %s: %s\n", base, strerror(errno));
    return false;
}

/* The directory of the first run of any cell; NULL: no cell has one. */
static const char *first_run(const json_t *summary)
{
    const json_t *cell;
    const char *dir = NULL;
    size_t i;

    json_array_foreach(json_object_get(summary, "cells"), i, cell) {
        dir = json_string_value(
            json_object_get(json_array_get(json_object_get(cell, "runs"), 0), "dir"));
        if (dir != NULL)
            break;
    }
    return dir;
}

bool runs_refuse_many(const char *program, const char *path)
{
    char summary[FILES_PATH_MAX], run[FILES_PATH_MAX], word[SHELL_WORD_MAX];
    const char *first;
    json_t *json;

    files_join(summary, path, "summary.json");
    if (access(summary, F_OK) != 0)
        return false;
    json = files_read_json(summary);
    first = first_run(json);
    eprintf("%s: %s holds many runs; name one of them", program, path);
    if (first != NULL) {
        files_join(run, path, first);
        eprintf(", such as\n  %s", shell_word(word, run));
    }
    fputc('\n', stderr);
    json_decref(json);
    return true;
}

void runs_say_unreadable(const char *program, const char *path)
{
    if (errno == ENOENT)
        eprintf("%s: there is no run at %s\n", program, path);
    else if (errno == ENOTDIR)
        eprintf("%s: %s is not the directory of a run\n", program, path);
    else
        eprintf("%s: cannot read the run at %s: %s\n", program, path, files_reason());
    fputs("  the runs are in runs/, the last is runs/latest\n", stderr);
}
