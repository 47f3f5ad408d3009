/* SPDX-License-Identifier: MIT */
/* outputs.c -- whether outputs can be written is tried, since a mode alone does not say it:
 * root may write anywhere but on a file system that is read-only. */
#include "loadtest/outputs.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "loadtest/files.h"

/* The directory that `path` stands in. */
static void parent_of(const char *path, char out[FILES_PATH_MAX])
{
    char *slash;

    files_path(out, "%s", path);
    slash = strrchr(out, '/');
    if (slash == out)
        slash[1] = '\0';
    else if (slash)
        *slash = '\0';
    else
        files_path(out, ".");
}

/* False (and errno): nothing can be made in the directory. */
static bool has_room_for_more(const char *dir)
{
    char path[FILES_PATH_MAX];

    files_path(path, "%s/.seckill-XXXXXX", dir);
    return mkdtemp(path) && rmdir(path) == 0;
}

static bool is_possible(const char *path, enum setting_output output)
{
    char parent[FILES_PATH_MAX];
    struct stat st;

    if (strlen(path) >= FILES_PATH_MAX - 32) {
        errno = ENAMETOOLONG;
        return false;
    }
    parent_of(path, parent);
    if (stat(path, &st) != 0)
        return errno == ENOENT && has_room_for_more(parent);
    if (output == SETTING_WRITES_DIRECTORY) {
        errno = ENOTDIR;
        return S_ISDIR(st.st_mode) && has_room_for_more(path);
    }
    errno = EISDIR;
    return !S_ISDIR(st.st_mode) && has_room_for_more(parent);
}

bool outputs_are_possible(const struct settings *s, const void *values)
{
    for (size_t i = 0; i < s->program->count; i++) {
        const struct setting *setting = &s->program->settings[i];
        const char *path;

        if (setting->output == SETTING_WRITES_NOTHING || settings_is_default(s, setting->name))
            continue;
        path = *(const char *const *)((const char *)values + setting->offset);
        if (strcmp(path, "-") == 0) /* standard output */
            continue;
        if (!is_possible(path, setting->output)) {
            fprintf(stderr, "%s: cannot write %s (--%s): %s\n", s->program->name, path,
                    setting->name, strerror(errno));
            return false;
        }
    }
    return true;
}
