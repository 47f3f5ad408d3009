/* SPDX-License-Identifier: MIT */
/* outputs.c -- checks by trying that outputs can be written.  A file mode is not
 * enough: root may write everywhere, but not on a read-only file system. */
#include "base/text/outputs.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/text/output_file.h"

/* Room for the name of a probe behind the longest path. */
enum { PROBE_MAX = 32 };

/* The directory that `path` stands in. */
static void parent_of(const char *path, char out[PATH_MAX])
{
    const char *slash = strrchr(path, '/');
    size_t len = slash != NULL ? (size_t)(slash - path) : 1;

    if (slash == path)
        len = 1;
    memcpy(out, slash != NULL ? path : ".", len);
    out[len] = '\0';
}

/* Try to make a file in the directory.  False, and errno: it is not possible. */
static bool has_room_for_more(const char *dir)
{
    char path[PATH_MAX];

    (void)snprintf(path, sizeof(path), "%.*s/.seckill-XXXXXX", PATH_MAX - PROBE_MAX, dir);
    return mkdtemp(path) != NULL && rmdir(path) == 0;
}

/* A FIFO or a device is written directly, and needs no room in its directory. */
static bool is_file_possible(const char *path)
{
    char target[PATH_MAX], parent[PATH_MAX];

    if (!output_file_find(path, target))
        return false;
    if (target[0] == '\0')
        return access(path, W_OK) == 0;
    parent_of(target, parent);
    return has_room_for_more(parent);
}

static bool is_directory_possible(const char *path)
{
    char parent[PATH_MAX];
    struct stat st;

    parent_of(path, parent);
    if (stat(path, &st) != 0)
        return errno == ENOENT && has_room_for_more(parent);
    errno = ENOTDIR;
    return S_ISDIR(st.st_mode) && has_room_for_more(path);
}

static bool is_possible(const char *path, enum setting_output output)
{
    if (strlen(path) >= PATH_MAX - PROBE_MAX) {
        errno = ENAMETOOLONG;
        return false;
    }
    return output == SETTING_WRITES_DIRECTORY ? is_directory_possible(path)
                                              : is_file_possible(path);
}

bool outputs_are_possible(const struct settings *s, const void *values,
                          char why[OUTPUTS_WHY_MAX])
{
    why[0] = '\0';
    for (size_t i = 0; i < s->program->count; i++) {
        const struct setting *setting = &s->program->settings[i];
        const char *path;

        if (setting->output == SETTING_WRITES_NOTHING ||
            settings_is_default(s, setting->offset))
            continue;
        path = *(const char *const *)((const char *)values + setting->offset);
        if (setting->output == SETTING_WRITES_STREAM && strcmp(path, "-") == 0)
            continue;
        if (!is_possible(path, setting->output)) {
            (void)snprintf(why, OUTPUTS_WHY_MAX, "cannot write %.300s (--%s): %s", path,
                           setting->name, strerror(errno));
            return false;
        }
    }
    return true;
}
